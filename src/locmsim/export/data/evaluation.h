// ---- the evaluation -----------------------------------------------------------------------------

static locmi_eval_t locmi_evaluation;
static locmi_weights_t locmi_weights;

LOCMI_FUNCTION void locm_evaluation_use(const locm_table_t *t) {
  memcpy(&locmi_weights, locmi_term_weights, sizeof(locmi_weights));
  locmi_eval_fill(&locmi_evaluation, &locmi_weights);
  locmi_eval_use_table(&locmi_evaluation, &locmi_weights, t);
}

LOCMI_FUNCTION float locm_evaluate(const locm_state_t *s, const locm_table_t *t, int who) {
  return locmi_evaluate(s, t, &locmi_evaluation, who);
}
