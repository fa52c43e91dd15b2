"""Fine-tuning of the embedded network in 8 bits: `mrac train quantize --steps`."""
