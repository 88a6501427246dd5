"""Public transformations of functions of tensors: control flow, `ja.func`, checkpoint, custom Functions."""
