/* Guessing ahead: a proposer component, its target, what they share and what must be taken back. Constants; see
   tables.h for what they decide. */
#include "describe/standard/tables_types.h"

TN_DOC_OBJECT_TYPE(tn_std_speculative_contract, "SpeculativeContract",
                   "Facts that make a proposer and a target fit. Whether and how far to guess is the "
                   "runtime's choice.",
    TN_DOC_MAY("distribution_preserving", TN_DOC_BOOLEAN, "false",
               "Whether the target's distribution stays as it is."),
    TN_DOC_MUST("max_proposal_width", TN_DOC_SIZE, "Most positions that can be taken back."),
    TN_DOC_MAY("port_bindings", TN_DOC_NAMED(TN_DOC_NAME), NULL,
               "Proposer ports that take values of the target, by role."),
    TN_DOC_MAY("proposal_execution", &tn_std_speculative_proposal_execution, "{\"kind\": \"block\"}",
               "How a proposal is made."),
    TN_DOC_MUST("proposer", TN_DOC_NAME, "Component that proposes."),
    TN_DOC_MAY("rollback_state", TN_DOC_SET_OF_NAMES, NULL,
               "State groups that go back when a proposal is refused."),
    TN_DOC_MAY("shared_state", TN_DOC_SET_OF_NAMES, NULL, "State groups that both use."),
    TN_DOC_MAY("shared_weights", TN_DOC_SET_OF_NAMES, NULL, "Weights of the target that the proposer borrows."),
    TN_DOC_MUST("target", TN_DOC_NAME, "Component that verifies."),
    TN_DOC_MUST("vocabulary", &tn_std_speculative_vocabulary, "How the two vocabularies go together."));

TN_DOC_UNION_TYPE(tn_std_speculative_proposal_execution, "SpeculativeProposalExecution",
                  "All of a proposal in one call, or token by token.",
    TN_DOC_BARE_VARIANT("block", "One call gives all tokens."),
    TN_DOC_VARIANT("chained", "Each call gives one token.",
                   TN_DOC_NULL("folded_carry_output", TN_DOC_NAME,
                               "Proposer port whose value goes into the next call's embedding input."),
                   TN_DOC_NULL("folded_carry_seed", &tn_std_speculative_value_ref,
                               "Target value that takes its place in the first call."),
                   TN_DOC_MUST("logits_output", TN_DOC_NAME, "Proposer port of the scores."),
                   TN_DOC_MAY("recurrent", TN_DOC_LIST_OF(&tn_std_speculative_recurrence_binding), "[]",
                              "State of the proposer from call to call."),
                   TN_DOC_NULL("token_embedding", &tn_std_token_embedding_source,
                               "Where embeddings of tokens come from."),
                   TN_DOC_MUST("token_embedding_input", TN_DOC_NAME,
                               "Proposer port that takes the last token's embedding.")));

TN_DOC_OBJECT_TYPE(tn_std_speculative_recurrence_binding, "SpeculativeRecurrenceBinding",
                   "One state of the proposer.",
    TN_DOC_MUST("input", TN_DOC_NAME, "Port that takes it."),
    TN_DOC_MUST("output", TN_DOC_NAME, "Port that gives the next."),
    TN_DOC_MUST("state", TN_DOC_NAME, "State cell that is restored when a proposal is refused."));

TN_DOC_OBJECT_TYPE(tn_std_speculative_value_ref, "SpeculativeValueRef", "A value by component and port.",
    TN_DOC_MUST("component", TN_DOC_NAME, "The component."),
    TN_DOC_MUST("output", TN_DOC_NAME, "Its output port."));

TN_DOC_UNION_TYPE(tn_std_speculative_vocabulary, "SpeculativeVocabulary",
                  "How the proposer's ids become the target's.",
    TN_DOC_BARE_VARIANT("identical", "They are the same."),
    TN_DOC_VARIANT("subset", "The proposer knows the first ones.",
                   TN_DOC_MUST("proposer_vocab_size", TN_DOC_UINT, "How many.")),
    TN_DOC_VARIANT("mapped", "A file translates.",
                   TN_DOC_MUST("artifact", TN_DOC_NAME, "Path of the file.")));

TN_DOC_OBJECT_TYPE(tn_std_token_embedding_source, "TokenEmbeddingSource", "An embedding table of a component.",
    TN_DOC_MUST("component", TN_DOC_NAME, "The component."),
    TN_DOC_MUST("table", TN_DOC_NAME, "Name of the weight, rows by id."));
