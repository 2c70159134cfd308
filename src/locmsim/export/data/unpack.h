#if IS_ASCII
// Numbers of 16 bits, two in five letters, as multiples of a scale: `n` floats.
static const char *locmi_unpack(float *to, const char *text, int n, float scale) {
  uint32_t word = 0;
  int i, k;
  for (i = 0; i < n; i++) {
    if (i % 2 == 0) {
      for (word = k = 0; k < 5; k++, text++) {
        word = word * 85 + (uint32_t)(*text == 'x' ? 57 : *text == 'y' ? 28 : *text - 35);
      }
    }
    to[i] = (float)(int16_t)(word >> 16) * scale;
    word <<= 16;
  }
  return text;
}
#else
// A character of the text: 14 bits, in three bytes of UTF-8.
static int locmi_take_character(const char **text) {
  const char *c = *text;
  *text += 3;
  return ((c[0] & 15) << 12 | (c[1] & 63) << 6 | (c[2] & 63)) - 0x4E00;
}

// Numbers of 16 bits, as multiples of a scale: `n` floats.
static const char *locmi_unpack(float *to, const char *text, int n, float scale) {
  uint32_t bits = 0;
  int i, left = 0;
  for (i = 0; i < n; i++) {
    for (; left < 16; left += 14) bits = bits << 14 | (uint32_t)locmi_take_character(&text);
    left -= 16;
    to[i] = (float)(int16_t)(bits >> left) * scale;
  }
  return text;
}
#endif

#if HAS_ROWS
// Numbers of 25 levels, three in a character, as multiples of the scale of their row.
static const char *locmi_unpack_rows(float *to, const char *text, int n, int columns, float unit) {
  const char *scales = text;
  float scale = 0;
  int i, digits = 0;
  text += 3 * (n / columns);
  for (i = 0; i < n; i++) {
    if (i % columns == 0) scale = (float)locmi_take_character(&scales) * unit;
    if (i % 3 == 0) digits = locmi_take_character(&text);
    to[i] = (float)(digits % 25 - 12) * scale;
    digits /= 25;
  }
  return text;
}
#endif

// Concatenated arrays: `n` of them, whose sizes repeat after `period`, in a text of several strings.
static void locmi_unpack_all(float *to, const char *const *strings, int n_strings, const int *sizes,
    int period, const float *scales, int n) {
  static char all[LOCMI_TEXT_SIZE];
  const char *text = all;
  char *end = all;
  int i;
  for (i = 0; i < n_strings; i++) {
    size_t length = strlen(strings[i]);
    memcpy(end, strings[i], length);
    end += length;
  }
  for (i = 0; i < n; i++) {
    int size = sizes[i % period];
#if HAS_ROWS
    // Tables of the networks for decks have so many columns, and a negative size.
    if (size < 0) {
      size = -size;
      text = locmi_unpack_rows(to, text, size, LOCMI_DECK_UNITS, scales[i]);
      to += size;
      continue;
    }
#endif
    text = locmi_unpack(to, text, size, scales[i]);
    to += size;
  }
}
