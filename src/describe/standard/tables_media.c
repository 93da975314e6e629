/* Preprocessing programs for pictures and sound. The transforms are parameters; what they do is in src/media.
   Constants; see tables.h for what they decide. */
#include "describe/standard/tables_types.h"

TN_DOC_OBJECT_TYPE(tn_std_preprocessing_spec, "PreprocessingSpec", "Programs that make tensors of media.",
    TN_DOC_NULL("audio", &tn_std_audio_preprocessing_program, "Program for sound."),
    TN_DOC_NULL("image", &tn_std_image_preprocessing_program, "Program for pictures."));

TN_DOC_OBJECT_TYPE(tn_std_audio_preprocessing_program, "AudioPreprocessingProgram",
                   "Steps on decoded sound, then the tensors that go into the workflow.",
    TN_DOC_MUST("outputs", TN_DOC_SOME_OF(&tn_std_audio_output_binding), "Tensors that leave the program."),
    TN_DOC_MAY("transforms", TN_DOC_LIST_OF(&tn_std_audio_transform), NULL, "Steps, in order."));

TN_DOC_OBJECT_TYPE(tn_std_audio_transform, "AudioTransform",
                   "One step; it reads the parameters that belong to its operation.",
    TN_DOC_NULL("channels", TN_DOC_SIZE, "Channels after mixing."),
    TN_DOC_NULL("epsilon", TN_DOC_DOUBLE, "Added to the variance before the root."),
    TN_DOC_NULL("hop_length", TN_DOC_SIZE, "Samples from frame to frame."),
    TN_DOC_NULL("inputs", TN_DOC_SOME_OF(TN_DOC_NAME),
                "Values that the step takes; absent: what the step before gave."),
    TN_DOC_NULL("mel_scale", TN_DOC_NAME, "Mel formula, \"slaney\" or \"htk\"."),
    TN_DOC_NULL("mode", TN_DOC_NAME, "Side of padding, or kind of normalisation."),
    TN_DOC_NULL("n_fft", TN_DOC_SIZE, "Points of the Fourier transform."),
    TN_DOC_NULL("num_mel_bins", TN_DOC_SIZE, "Mel bands."),
    TN_DOC_MUST("op", &tn_std_audio_transform_op, "The operation."),
    TN_DOC_NULL("outputs", TN_DOC_SOME_OF(TN_DOC_NAME), "Names of the values that the step gives."),
    TN_DOC_NULL("pad_value", TN_DOC_DOUBLE, "Value of padding."),
    TN_DOC_NULL("sample_rate", TN_DOC_SIZE32, "Hz after resampling, and of the mel filters."),
    TN_DOC_NULL("scale", TN_DOC_DOUBLE, "Factor."),
    TN_DOC_NULL("target_length", TN_DOC_SIZE, "Samples or frames after padding or cutting."),
    TN_DOC_NULL("win_length", TN_DOC_SIZE, "Samples in a window."),
    TN_DOC_NULL("window", TN_DOC_NAME, "Window function, \"hann\" for example."));

TN_DOC_OPEN_ENUM_TYPE(tn_std_audio_transform_op, "AudioTransformOp", "Operations on sound.", "decode",
                      "resample", "downmix", "rescale", "zero_mean_unit_variance", "normalize", "pad", "trim",
                      "frame", "spectrogram", "log_mel", "log_mel_spectrogram", "emit_valid_frames",
                      "emit_valid_samples", "emit_sample_lengths", "emit_validity_mask");

TN_DOC_OBJECT_TYPE(tn_std_audio_output_binding, "AudioOutputBinding", "A tensor that leaves a sound program.",
    TN_DOC_MUST("content", &tn_std_audio_output_content, "What the tensor holds."),
    TN_DOC_NULL("contract", &tn_std_tensor_contract, "Type and shape; required beside a workflow."),
    TN_DOC_MUST("dtype", &tn_std_tensor_d_type, "Element type."),
    TN_DOC_MUST("name", TN_DOC_NAME, "Workflow value that it becomes."),
    TN_DOC_NULL("optional", TN_DOC_BOOLEAN, "Whether it may be left out where nothing needs it."),
    TN_DOC_NULL("pad_value", TN_DOC_DOUBLE, "Value of padded entries."),
    TN_DOC_NULL("rank", TN_DOC_UINT, "Number of axes, where no contract says it."),
    TN_DOC_MUST("source", TN_DOC_NAME, "Value of the program that it is."));

TN_DOC_OPEN_ENUM_TYPE(tn_std_audio_output_content, "AudioOutputContent",
                      "What a tensor from a sound program holds.", "waveform", "features", "audio_features",
                      "valid_frames", "valid_samples", "sample_lengths", "frame_lengths", "validity_mask");

TN_DOC_OBJECT_TYPE(tn_std_image_preprocessing_program, "ImagePreprocessingProgram",
                   "Steps on decoded pixels, then the tensors that go into the workflow.",
    TN_DOC_MUST("outputs", TN_DOC_SOME_OF(&tn_std_image_output_binding), "Tensors that leave the program."),
    TN_DOC_MAY("transforms", TN_DOC_LIST_OF(&tn_std_image_transform), NULL, "Steps, in order."));

TN_DOC_OBJECT_TYPE(tn_std_image_transform, "ImageTransform",
                   "One step; it reads the parameters that belong to its operation.",
    TN_DOC_NULL("canvas_pad_value", TN_DOC_DOUBLE, "Colour of the canvas before tiling."),
    TN_DOC_NULL("channel_order", TN_DOC_NAME, "Where channels stand in a flattened patch."),
    TN_DOC_NULL("coordinate_order", TN_DOC_NAME, "Order of the parts of a patch coordinate."),
    TN_DOC_NULL("flatten", TN_DOC_BOOLEAN, "Whether a patch becomes one vector."),
    TN_DOC_NULL("include_thumbnail", TN_DOC_BOOLEAN, "Whether the whole picture is added as one more tile."),
    TN_DOC_NULL("inputs", TN_DOC_SOME_OF(TN_DOC_NAME),
                "Values that the step takes; absent: what the step before gave."),
    TN_DOC_NULL("interpolation", TN_DOC_NAME, "Filter of resizing."),
    TN_DOC_NULL("mask_patch_size", TN_DOC_SIZE, "Pixels per side of a mask cell."),
    TN_DOC_NULL("max_patches", TN_DOC_SIZE, "Most patches after resizing."),
    TN_DOC_NULL("max_pixels", TN_DOC_SIZE, "Most pixels after resizing."),
    TN_DOC_NULL("max_tiles", TN_DOC_SIZE, "Most tiles."),
    TN_DOC_NULL("mean", TN_DOC_LIST_OF(TN_DOC_FLOAT), "Mean by channel."),
    TN_DOC_NULL("merge_size", TN_DOC_SIZE, "Patches per side of a group that stays together."),
    TN_DOC_NULL("min_pixels", TN_DOC_SIZE, "Least pixels after resizing."),
    TN_DOC_NULL("mode", TN_DOC_NAME, "How sides are brought to size."),
    TN_DOC_MUST("op", &tn_std_image_transform_op, "The operation."),
    TN_DOC_NULL("outputs", TN_DOC_SOME_OF(TN_DOC_NAME), "Names of the values that the step gives."),
    TN_DOC_NULL("pad_value", TN_DOC_DOUBLE, "Value of padding, or of padded coordinates."),
    TN_DOC_NULL("patch_order", TN_DOC_NAME, "Order of patches: by groups, or row by row."),
    TN_DOC_NULL("patch_size", TN_DOC_SIZE, "Pixels per side of a patch."),
    TN_DOC_NULL("pooling_kernel_size", TN_DOC_SIZE,
                "Patches per side that are pooled, when a patch budget is met."),
    TN_DOC_NULL("scale", TN_DOC_DOUBLE, "Factor."),
    TN_DOC_NULL("size", &tn_std_image_size_spec, "Size after resizing."),
    TN_DOC_NULL("size_multiple", TN_DOC_SIZE, "Both sides become multiples of this."),
    TN_DOC_NULL("std", TN_DOC_LIST_OF(TN_DOC_FLOAT), "Standard deviation by channel."),
    TN_DOC_NULL("target_length", TN_DOC_SIZE, "Rows after padding."),
    TN_DOC_NULL("temporal_order", TN_DOC_NAME, "Order of time and channels inside a patch."),
    TN_DOC_NULL("temporal_patch_size", TN_DOC_SIZE, "Frames in a patch."),
    TN_DOC_NULL("thumbnail_interpolation", TN_DOC_NAME, "Filter for the thumbnail."),
    TN_DOC_NULL("thumbnail_order", &tn_std_thumbnail_order, "Where the thumbnail stands among the tiles."),
    TN_DOC_NULL("tile_size", TN_DOC_SIZE, "Pixels per side of a tile."));

TN_DOC_OPEN_ENUM_TYPE(tn_std_image_transform_op, "ImageTransformOp", "Operations on pictures.", "decode",
                      "decode_rgb", "convert_rgb", "resize", "rescale", "normalize", "tile", "flatten",
                      "patchify", "pad", "emit_original_size", "emit_transformed_size", "emit_validity_mask",
                      "emit_patch_coordinates", "emit_grid_coordinates");

static const struct tn_docfield image_size_fields[] = {
    TN_DOC_MUST("height", TN_DOC_UINT32, "Rows."),
    TN_DOC_MUST("width", TN_DOC_UINT32, "Columns."),
};

static const struct tn_doctype image_size_sides = {
    .kind = TN_DOC_OBJECT,
    .note = "Width and height.",
    .fields = image_size_fields,
    .field_count = TN_DOC_COUNT(image_size_fields),
};

TN_DOC_CHOICE_TYPE(tn_std_image_size_spec, "ImageSizeSpec", "One number for both sides, or width and height.",
                   TN_DOC_UINT32, &image_size_sides);

TN_DOC_OPEN_ENUM_TYPE(tn_std_thumbnail_order, "ThumbnailOrder",
                      "Thumbnail before, after, or not among the tiles.", "none", "prepend", "append");

TN_DOC_OBJECT_TYPE(tn_std_image_output_binding, "ImageOutputBinding", "A tensor that leaves a picture program.",
    TN_DOC_MUST("content", &tn_std_image_output_content, "What the tensor holds."),
    TN_DOC_NULL("contract", &tn_std_tensor_contract, "Type and shape; required beside a workflow."),
    TN_DOC_MUST("dtype", &tn_std_tensor_d_type, "Element type."),
    TN_DOC_MUST("name", TN_DOC_NAME, "Workflow value that it becomes."),
    TN_DOC_NULL("optional", TN_DOC_BOOLEAN, "Whether it may be left out where nothing needs it."),
    TN_DOC_NULL("pad_value", TN_DOC_DOUBLE, "Value of padded entries."),
    TN_DOC_MUST("source", TN_DOC_NAME, "Value of the program that it is."));

TN_DOC_OPEN_ENUM_TYPE(tn_std_image_output_content, "ImageOutputContent",
                      "What a tensor from a picture program holds.", "pixels", "patch_coordinates",
                      "grid_dimensions", "original_size", "transformed_size", "validity_mask");

TN_DOC_ENUM_TYPE(tn_std_image_output_value_range, "ImageOutputValueRange",
                 "The range that pixels of an output lie in.", "zero_to_one", "negative_one_to_one",
                 "zero_to_255");

TN_DOC_OBJECT_TYPE(tn_std_media_output_contract, "MediaOutputContract",
                   "Samples or encoded sound that a workflow gives.",
    TN_DOC_NULL("channels", TN_DOC_UINT16, "Channels."),
    TN_DOC_MUST("container", &tn_std_media_container, "Bare samples or a file."),
    TN_DOC_MAY("delivery", &tn_std_media_delivery, "\"buffered\"", "All at once, or while it is made."),
    TN_DOC_MUST("encoding", &tn_std_media_encoding, "Form of one sample."),
    TN_DOC_NULL("sample_rate_hz", TN_DOC_UINT32, "Rate of what is delivered."),
    TN_DOC_NULL("source_sample_rate_hz", TN_DOC_UINT32,
                "Rate of what the graph gives; another one means resampling."));

TN_DOC_ENUM_TYPE(tn_std_media_container, "MediaContainer", "Bare samples, or a WAV file.", "raw", "wav");

TN_DOC_ENUM_TYPE(tn_std_media_delivery, "MediaDelivery", "Everything at the end, or pieces as they come.",
                 "buffered", "streaming");

TN_DOC_ENUM_TYPE(tn_std_media_encoding, "MediaEncoding",
                 "Little-endian samples, 16-bit integer or 32-bit float.", "pcm_s16_le", "pcm_f32_le");
