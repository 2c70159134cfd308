// ---- the network --------------------------------------------------------------------------------

LOCMI_FUNCTION float locm_network_value(const locm_state_t *s, const locm_table_t *t, int who) {
  static int is_ready;
  if (!is_ready) locmi_set_weights();
  is_ready = 1;
  return locmi_network_value(&locmi_network, s, t, who);
}
