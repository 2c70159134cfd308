// Numbers of 16 bits, two in five letters, as multiples of a scale: `n` floats.
static const char *unpack(float *to, const char *text, int n, float scale) {
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

// Arrays one behind the other.
static void unpack_all(float *to, const char *text, const int *sizes, const float *scales, int n) {
  int i;
  for (i = 0; i < n; i++) {
    text = unpack(to, text, sizes[i], scales[i]);
    to += sizes[i];
  }
}
