"""The demonstration: a real scene with measured depth, wrong anchors, and what each method makes of them."""
