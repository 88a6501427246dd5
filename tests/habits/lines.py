# ruff: noqa: E501  # a line of the page is a line here
"""The lines of `docs/from_torch_compile.md`, in its order, and the habits that show what each says."""

import pathlib
import re

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "from_torch_compile.md"

SHOWN_BY = [line.split() for line in """\
item_in_log_list item_running_total accuracy_item grad_norm_item backward_hook_grads loader_iterator_epoch_item
meter_tensor tensor_dict_state history_list ring_buffer queue_buffer_moco kv_cache_pos ema_update foreach_ema
bool_mask
logging_in
if_tensor while_tensor assert_tensor raise_on_nan skip_nan_step early_stop_loop generate_until_eos max_python_tensor
expert_by_item lengths_max arange_item
best_tracking
bool_mask_out nonzero_loop unique_in moe_loop_where
print_tensor print_constant per_param_norms format_loss pbar_set_description warn_in
log_every
numpy_in tolist_in sorted_by_value
self_counter nonlocal_counter
lr_float_changes thresholds_schedule group_lr_set sched_inside sched_lambda
step_int_changes int_for_float bound_method global_mutated warmup_lambda compiled_set_attr batch_sizes kv_cache_cat
optional_arg kwargs_default raise_then_go_on try_except_shape try_except_key dict_batch module_dict_route
meter_class string_keys_loss_dict grad_is_none grad_cam
kv_cache_list deque_state
generator_arg zip_arg loader_in_fn
tuple_dataclass_out is_identity_out shape_prints_f
builtin_fn partial_fn callable_object
numpy_array_arg
numpy_scalar_arg
lock_in contextlib_manager record_function
python_random numpy_random mixup_beta teacher_forcing timing_in timer_context tqdm_in stop_iteration_next
manual_seed_in generator_object sampling_multinomial
isinstance_checks device_idiom is_compiling
inplace_arg_slice view_out_mutate
compiled_module_face compiled_module_optimizer compiled_state_dict_load hook_on_compiled compiled_hooks deepcopy_compiled
module_compile_method compile_submodules compile_forward_attr forward_decorated nested_compile deepcopy_model_compile_both
train_eval_toggle toggle_on_compiled freeze_between no_grad_around autocast_around nullcontext_in method_decorated dropout_differs
head_swapped hook_added_after add_param_group
data_replaced
autocast_in scaler_in closure_step loss_class freeze_inside
backward_outside backward_twice_retain
opt_step_compiled_alone opt_step_lambda
accumulate_if
custom_function checkpoint_in autograd_grad_in func_vmap_grad tensor_hook_in grad_mode_in
compiler_disable graph_break_call
modes_taken compiler_reset matmul_precision dynamo_config
fullgraph_break_raises
generator_fn""".splitlines()]  # fmt: skip

KINDS = {
    "one program": ("whole", 1), "at most three programs": ("whole", 3),
    "a program for each kind of call": ("whole", 9), "a program for each way": ("by ways", 9), "in parts": ("in parts", 9), "eagerly": ("eagerly", 0),
    "an error": ("whole", 0),
}  # fmt: skip
"""What the page says → how calls run, and the most programs that a compiled function of a habit has."""


def said():
    """Returns what the page says of each habit."""
    rows = re.findall(r"^\| (?!---|you write)(.+?) \| ([^|]+?) \| [^|]*\|$", PAGE.read_text(), re.MULTILINE)
    return {name: KINDS[kind] for (_, kind), names in zip(rows, SHOWN_BY, strict=True) for name in names}
