/*
 * Reads what stands beside the workflow: parameter adapters, the speculative contract, generation, preprocessing
 * programs, profiles, tokenizer and model facts, quantisation, hardware. Inputs are untrusted.
 */
#include "describe/standard/read.h"

/* Iterates an array or object whose elements become structures. */
#define READ_LIST(r, list, type, items, count, read_one)                                           \
    do {                                                                                           \
        struct tn_json list_ = (list);                                                             \
        if (!tn_json_is(list_, type)) break;                                                       \
        (items) = tn_std_array(r, tn_json_count(list_), sizeof(*(items)), &(count));               \
        size_t i = 0;                                                                              \
        for (struct tn_json v = tn_json_first(list_); i < (count); v = tn_json_next(v), i++)       \
            read_one;                                                                              \
    } while (0)

/* ---- adapters --------------------------------------------------------------------------------------------------- */

static void read_target(struct tn_json v, struct tn_std_target *out)
{
    struct tn_json slice = tn_std_get(v, "output_slice"), graph = tn_std_get(v, "graph_inputs");
    out->at = v;
    out->id = tn_std_ref_of(v, "id");
    out->component = tn_std_ref_of(v, "component");
    out->initializer = tn_std_ref_of(v, "initializer");
    out->node_name = tn_std_ref_of(v, "node_name");
    out->output_name = tn_std_ref_of(v, "output_name");
    out->activation_dtype = tn_std_dtype_of(tn_std_str_of(v, "activation_dtype"));
    out->input_features = tn_std_count_of(v, "input_features");
    out->output_features = tn_std_count_of(v, "output_features");
    out->layer_index = tn_std_count_of(v, "layer_index");
    out->rank = tn_std_count_of(v, "rank");
    out->alpha = tn_std_real_of(v, "alpha");
    out->slice_at = slice;
    out->slice_offset = tn_std_count_of(slice, "offset");
    out->slice_width = tn_std_count_of(slice, "width");
    out->graph_a = tn_std_ref_of(graph, "a");
    out->graph_b = tn_std_ref_of(graph, "b");
    out->graph_scale = tn_std_ref_of(graph, "scale");
}

static void read_weight(struct tn_json v, struct tn_std_adapter_weight *out)
{
    out->at = v;
    out->location = tn_std_ref_of(v, "location");
    out->config_location = tn_std_ref_of(v, "config_location");
    out->loader = tn_std_ref_of(v, "loader_capability");
    out->format = tn_std_ref_of(v, "format");
    out->scale_encoding = tn_std_ref_of(v, "scale_encoding");
}

static void read_adapter_binding(struct tn_json v, struct tn_std_adapter_binding *out)
{
    out->at = v;
    out->target = tn_std_ref_of(v, "target");
    out->weight_key = tn_std_ref_of(v, "weight_key");
    out->rank = tn_std_count_of(v, "rank");
    out->alpha = tn_std_real_of(v, "alpha");
}

static void read_adapter(struct tn_std_reader *r, struct tn_json a, struct tn_std_adapter *out)
{
    out->name = tn_json_key(a);
    out->at = a;
    out->index = tn_std_count_of(a, "index");
    out->rank = tn_std_count_of(a, "rank");
    out->alpha = tn_std_real_of(a, "alpha");
    out->identity = tn_std_ref_of(a, "identity");
    out->version = tn_std_ref_of(a, "version");
    out->dtype = tn_std_dtype_of(tn_std_str_of(a, "dtype"));
    READ_LIST(r, tn_json_get(a, "weights"), TN_JSON_ARRAY, out->weights, out->weight_count,
              read_weight(v, &out->weights[i]));
    READ_LIST(r, tn_json_get(a, "bindings"), TN_JSON_ARRAY, out->bindings, out->binding_count,
              read_adapter_binding(v, &out->bindings[i]));
}

void tn_std_read_adapters(struct tn_std_reader *r, struct tn_json s, struct tn_std_adapters *out)
{
    if (!tn_json_is(s, TN_JSON_OBJECT)) return;
    struct tn_json selection = tn_std_get(s, "selection");
    out->at = s;
    READ_LIST(r, tn_json_get(tn_std_get(s, "target_manifest"), "targets"), TN_JSON_ARRAY, out->targets,
              out->target_count, read_target(v, &out->targets[i]));
    READ_LIST(r, tn_json_get(s, "artifacts"), TN_JSON_OBJECT, out->artifacts, out->artifact_count,
              read_adapter(r, v, &out->artifacts[i]));
    out->selection_at = selection;
    out->segments = tn_std_ref_of(selection, "segments");
    out->counts = tn_std_ref_of(selection, "adapter_counts");
    out->scales = tn_std_ref_of(selection, "scales");
    out->active = tn_std_ref_of(selection, "active");
    out->max_adapters = tn_std_count_of(selection, "max_adapters");
    out->application = tn_std_ref_of(s, "application_capability");
    out->portable_fallback = tn_std_bool_of(s, "portable_fallback", false);
}

/* ---- speculation ------------------------------------------------------------------------------------------------ */

static const struct tn_std_word vocabularies[] = {
    {"identical", TN_STD_IDENTICAL},
    {"subset", TN_STD_SUBSET},
    {"mapped", TN_STD_MAPPED},
    {NULL, 0},
};

static void read_recurrent(struct tn_json v, struct tn_std_recurrent *out)
{
    out->at = v;
    out->state = tn_std_ref_of(v, "state");
    out->input = tn_std_ref_of(v, "input");
    out->output = tn_std_ref_of(v, "output");
}

static void read_execution(struct tn_std_reader *r, struct tn_json e, struct tn_std_speculative *out)
{
    out->execution_at = e;
    out->chained = tn_str_is(tn_std_str_of(e, "kind"), "chained");
    if (!out->chained) return;
    out->token_embedding_input = tn_std_ref_of(e, "token_embedding_input");
    out->logits_output = tn_std_ref_of(e, "logits_output");
    out->folded_carry_output = tn_std_ref_of(e, "folded_carry_output");
    out->seed_at = tn_std_get(e, "folded_carry_seed");
    out->seed_component = tn_std_ref_of(out->seed_at, "component");
    out->seed_output = tn_std_ref_of(out->seed_at, "output");
    out->table_at = tn_std_get(e, "token_embedding");
    out->table_component = tn_std_ref_of(out->table_at, "component");
    out->table = tn_std_ref_of(out->table_at, "table");
    READ_LIST(r, tn_json_get(e, "recurrent"), TN_JSON_ARRAY, out->recurrent, out->recurrent_count,
              read_recurrent(v, &out->recurrent[i]));
}

void tn_std_read_speculative(struct tn_std_reader *r, struct tn_json s, struct tn_std_speculative *out)
{
    if (!tn_json_is(s, TN_JSON_OBJECT)) return;
    struct tn_json vocabulary = tn_std_get(s, "vocabulary");
    out->at = s;
    out->proposer = tn_std_ref_of(s, "proposer");
    out->target = tn_std_ref_of(s, "target");
    read_execution(r, tn_std_get(s, "proposal_execution"), out);
    out->port_bindings = tn_std_bindings_of(r, s, "port_bindings");
    out->rollback_state = tn_std_refs_of(r, s, "rollback_state");
    out->shared_state = tn_std_refs_of(r, s, "shared_state");
    out->shared_weights = tn_std_refs_of(r, s, "shared_weights");
    out->vocabulary = (enum tn_std_vocabulary)tn_std_word_of(vocabulary, "kind", vocabularies);
    out->vocabulary_map = tn_std_ref_of(vocabulary, "artifact");
    out->proposer_vocab_size = tn_std_count_of(vocabulary, "proposer_vocab_size");
    out->max_proposal_width = tn_std_count_of(s, "max_proposal_width");
    out->distribution_preserving = tn_std_bool_of(s, "distribution_preserving", false);
}

/* ---- generation ------------------------------------------------------------------------------------------------- */

static void read_override(struct tn_json v, struct tn_std_override *out)
{
    out->field = tn_json_key(v);
    out->at = v;
    out->input = tn_std_ref_of(v, "input");
    out->constraint_at = tn_std_get(v, "constraint");
    out->minimum = tn_std_real_of(out->constraint_at, "minimum");
    out->maximum = tn_std_real_of(out->constraint_at, "maximum");
}

static void read_generation(struct tn_std_reader *r, struct tn_json g, struct tn_std_generation *out)
{
    if (!tn_json_is(g, TN_JSON_OBJECT)) return;
    out->at = g;
    out->defaults = tn_std_get(g, "defaults");
    READ_LIST(r, tn_json_get(g, "overrides"), TN_JSON_OBJECT, out->overrides, out->override_count,
              read_override(v, &out->overrides[i]));
}

/* ---- preprocessing ---------------------------------------------------------------------------------------------- */

static void read_transform(struct tn_std_reader *r, struct tn_json v, struct tn_std_transform *out)
{
    out->at = v;
    out->op = tn_std_ref_of(v, "op");
    out->inputs = tn_std_refs_of(r, v, "inputs");
    out->outputs = tn_std_refs_of(r, v, "outputs");
}

static void read_program_output(struct tn_std_reader *r, struct tn_json v, struct tn_std_program_output *out)
{
    out->at = v;
    out->name = tn_std_ref_of(v, "name");
    out->source = tn_std_ref_of(v, "source");
    out->content = tn_std_ref_of(v, "content");
    out->dtype_ref = tn_std_ref_of(v, "dtype");
    out->dtype = tn_std_dtype_of(out->dtype_ref.name);
    out->rank = tn_std_count_of(v, "rank");
    out->optional = tn_std_bool_of(v, "optional", false);
    tn_std_contract_at(r, tn_json_get(v, "contract"), &out->contract);
}

static void read_program(struct tn_std_reader *r, struct tn_json p, struct tn_std_program *out)
{
    if (!tn_json_is(p, TN_JSON_OBJECT)) return;
    out->at = p;
    out->outputs_at = tn_std_get(p, "outputs");
    READ_LIST(r, tn_json_get(p, "transforms"), TN_JSON_ARRAY, out->transforms, out->transform_count,
              read_transform(r, v, &out->transforms[i]));
    READ_LIST(r, out->outputs_at, TN_JSON_ARRAY, out->outputs, out->output_count,
              read_program_output(r, v, &out->outputs[i]));
}

/* ---- profiles --------------------------------------------------------------------------------------------------- */

static void read_decoding(struct tn_std_reader *r, struct tn_json d, struct tn_std_profile *out)
{
    if (!tn_json_is(d, TN_JSON_OBJECT)) return;
    struct tn_json vocabulary = tn_std_get(d, "vocabulary");
    out->has_decoding = true;
    out->decoding_at = d;
    out->decoding = tn_std_ref_of(d, "kind");
    out->lengths = tn_std_ref_of(d, "lengths");
    out->blank_id = tn_std_count_of(d, "blank_id");
    out->time_axis = tn_std_count_of(d, "time_axis");
    out->class_axis = tn_std_count_of(d, "class_axis");
    out->collapse_repeats = tn_std_bool_of(d, "collapse_repeats", false);
    out->has_vocabulary = tn_json_is(vocabulary, TN_JSON_OBJECT);
    out->vocabulary_at = vocabulary;
    out->vocabulary_source = tn_std_ref_of(vocabulary, "source");
    out->vocabulary_size = tn_std_count_of(vocabulary, "size");
    out->word_delimiter = tn_std_ref_of(vocabulary, "word_delimiter");
    out->tokens = tn_std_refs_of(r, vocabulary, "tokens");
    out->ignored_tokens = tn_std_refs_of(r, vocabulary, "ignored_tokens");
}

static void read_profile(struct tn_std_reader *r, struct tn_json p, struct tn_std_profile *out)
{
    struct tn_json pooling = tn_std_get(p, "pooling");
    out->name = tn_json_key(p);
    out->at = p;
    out->kind = tn_std_ref_of(p, "kind");
    out->version = tn_std_ref_of(p, "version");
    out->ignorable = tn_str_is(tn_std_str_of(p, "requirement"), "ignorable");
    out->generation_affecting = tn_std_bool_of(p, "generation_affecting", false);
    out->batch_invariance = tn_std_ref_of(p, "batch_invariance");
    out->outputs = tn_std_bindings_of(r, p, "outputs");
    out->has_pooling = tn_json_is(pooling, TN_JSON_OBJECT);
    out->pooling_at = pooling;
    out->pooling = tn_std_ref_of(pooling, "kind");
    out->pooling_axis = tn_std_count_of(pooling, "axis");
    out->normalize = tn_std_bool_of(pooling, "normalize", false);
    read_decoding(r, tn_json_get(p, "decoding"), out);
}

/* ---- package and model facts ------------------------------------------------------------------------------------ */

static void read_special(struct tn_json v, struct tn_std_special_token *out)
{
    out->role = tn_json_key(v);
    out->at = v;
    out->id = tn_std_count_of(v, "id");
    out->content = tn_std_ref_of(v, "content");
}

static void read_tokenizer(struct tn_std_reader *r, struct tn_json t, struct tn_std_tokenizer *out)
{
    if (!tn_json_is(t, TN_JSON_OBJECT)) return;
    out->at = t;
    out->algorithm = tn_std_ref_of(t, "algorithm");
    out->vocab_size = tn_std_count_of(t, "vocab_size");
    out->byte_level = tn_std_bool_of(t, "byte_level", false);
    READ_LIST(r, tn_json_get(t, "special_tokens"), TN_JSON_OBJECT, out->special, out->special_count,
              read_special(v, &out->special[i]));
    READ_LIST(r, tn_json_get(t, "artifacts"), TN_JSON_ARRAY, out->artifacts.items, out->artifacts.count,
              out->artifacts.items[i] = tn_std_ref_of(v, "location"));
}

static void read_language(struct tn_json v, struct tn_std_constraint_language *out)
{
    out->at = v;
    out->dialect = tn_std_ref_of(v, "dialect");
    out->version = tn_std_ref_of(v, "version");
    out->component = tn_std_ref_of(v, "component");
}

static void read_shard(struct tn_std_reader *r, struct tn_json v, struct tn_std_tensor_shard *out)
{
    out->name = tn_json_key(v);
    out->at = v;
    out->axis = tn_std_count_of(v, "shard_axis");
    out->max_shards = tn_std_count_of(v, "max_shards");
    out->replicated = tn_std_refs_of(r, v, "replicated");
}

static void read_stage(struct tn_std_reader *r, struct tn_json v, struct tn_std_stage *out)
{
    out->at = v;
    out->components = tn_std_refs_of(r, v, "components");
    out->outputs = tn_std_refs_of(r, v, "outputs");
    out->state_groups = tn_std_refs_of(r, v, "state_groups");
}

static void read_model(struct tn_std_reader *r, struct tn_json m, struct tn_std_model *out)
{
    if (!tn_json_is(m, TN_JSON_OBJECT)) return;
    struct tn_json sharding = tn_std_get(m, "sharding"), router;
    out->at = m;
    out->io = tn_std_get(m, "io");
    out->max_sequence_length = tn_std_count_of(m, "max_sequence_length");
    out->vocab_size = tn_std_count_of(m, "vocab_size");
    out->attention = tn_std_get(m, "attention");
    out->attention_type = tn_std_ref_of(out->attention, "type");
    out->heads = tn_std_count_of(out->attention, "num_attention_heads");
    out->kv_heads = tn_std_count_of(out->attention, "num_kv_heads");
    out->head_dim = tn_std_count_of(out->attention, "head_dim");
    out->sliding_window = tn_std_count_of(out->attention, "sliding_window");
    out->sink_tokens = tn_std_count_of(out->attention, "sink_tokens");
    out->moe = tn_std_get(m, "mixture_of_experts");
    router = tn_std_get(out->moe, "router");
    out->experts = tn_std_count_of(out->moe, "routed_expert_count");
    out->experts_per_token = tn_std_count_of(out->moe, "experts_per_token");
    out->expert_groups = tn_std_count_of(router, "group_count");
    out->groups_per_token = tn_std_count_of(router, "groups_per_token");
    out->expert_count = tn_std_count_of(tn_std_get(sharding, "expert_parallel"), "expert_count");
    READ_LIST(r, tn_json_get(sharding, "tensor_parallel"), TN_JSON_OBJECT, out->tensor_parallel,
              out->tensor_parallel_count, read_shard(r, v, &out->tensor_parallel[i]));
    READ_LIST(r, tn_json_get(sharding, "pipeline_parallel"), TN_JSON_ARRAY, out->stages, out->stage_count,
              read_stage(r, v, &out->stages[i]));
}

static void read_quantization_override(struct tn_json v, struct tn_std_quantization_override *out)
{
    out->at = v;
    out->component = tn_std_ref_of(v, "component");
    out->precision = tn_std_ref_of(v, "precision");
    out->layers = tn_std_get(v, "layers");
}

static void read_hardware(struct tn_std_reader *r, struct tn_json h, struct tn_std_hardware *out)
{
    if (!tn_json_is(h, TN_JSON_OBJECT)) return;
    out->at = h;
    out->min_memory_gb = tn_std_real_of(h, "min_memory_gb");
    out->kv_mb_per_1k_tokens = tn_std_real_of(h, "kv_cache_memory_per_1k_tokens_mb");
    out->min_tp_degree = tn_std_count_of(h, "min_tp_degree");
    out->has_tensor_parallel = tn_json_bool(tn_json_get(h, "supports_tensor_parallel"), &out->tensor_parallel);
    out->required_dtypes = tn_std_refs_of(r, h, "required_dtypes");
    out->beneficial_dtypes = tn_std_refs_of(r, h, "beneficial_dtypes");
}

void tn_std_read_facts(struct tn_std_reader *r, struct tn_json root, struct tn_standard *doc)
{
    struct tn_json preprocessing = tn_std_get(root, "preprocessing"), package = tn_std_get(root, "package");
    struct tn_json quantization = tn_std_get(root, "quantization");
    read_generation(r, tn_json_get(root, "generation"), &doc->generation);
    read_program(r, tn_json_get(preprocessing, "image"), &doc->image);
    read_program(r, tn_json_get(preprocessing, "audio"), &doc->audio);
    READ_LIST(r, tn_json_get(root, "profiles"), TN_JSON_OBJECT, doc->profiles, doc->profile_count,
              read_profile(r, v, &doc->profiles[i]));
    read_tokenizer(r, tn_json_get(package, "tokenizer"), &doc->tokenizer);
    READ_LIST(r, tn_json_get(package, "constraint_languages"), TN_JSON_ARRAY, doc->languages, doc->language_count,
              read_language(v, &doc->languages[i]));
    read_model(r, tn_json_get(root, "model"), &doc->model);
    doc->quantization = tn_std_ref_of(quantization, "default");
    doc->quantization_overrides_at = tn_std_get(quantization, "overrides");
    READ_LIST(r, doc->quantization_overrides_at, TN_JSON_ARRAY, doc->quantization_overrides,
              doc->quantization_override_count, read_quantization_override(v, &doc->quantization_overrides[i]));
    read_hardware(r, tn_json_get(root, "hardware_requirements"), &doc->hardware);
}
