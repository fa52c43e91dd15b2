"""The file that ships against the network it was exported from: largest difference in log depth over whole images.

python -m mrac.lab.studies.exported --network run/embedded.safetensors --data ../shared/data/eval --sets nyu kitti15
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from rich.progress import track

from mrac.foundation.embedded import NETWORK, input_size
from mrac.gpu.network import NetworkOptions
from mrac.lab.data.manifest import read_manifest
from mrac.lab.studies.protocol import results_folder, write_results
from mrac.lab.train.foundation.checkpoint import load_network
from mrac.runtime.onnx_session import run_network


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--network", type=Path, required=True, help="embedded.safetensors of the run")
    parser.add_argument("--onnx", type=Path, default=NETWORK, help="the file; by default the one in the package")
    parser.add_argument("--data", type=Path, required=True, help="folder with a manifest.csv")
    parser.add_argument("--sets", nargs="+", default=["nyu"])
    parser.add_argument("--stride", type=int, default=1, help="every so manieth image")
    parser.add_argument("--out", type=Path, default=results_folder("exported"))
    arguments = parser.parse_args()
    network = load_network(arguments.network, NetworkOptions()).eval()
    results = {}
    for set_name in arguments.sets:
        largest = []
        for frame in track(list(read_manifest(arguments.data, set_name))[:: arguments.stride], description=set_name):
            image = Image.fromarray(frame.image())
            height, width = input_size(image.height, image.width)
            resized = np.asarray(image.resize((width, height), Image.Resampling.BICUBIC), dtype=np.float32)
            batch = np.ascontiguousarray(resized.transpose(2, 0, 1)[None])
            with torch.no_grad():
                expected = network(torch.from_numpy(batch)).numpy()
            largest.append(float(np.abs(run_network(arguments.onnx, batch, "exported") - expected).max()))
        results[set_name] = {"images": len(largest), "largest": max(largest), "median": float(np.median(largest))}
        print(f"{set_name}: {len(largest)} images, largest difference {max(largest):.6f}")
    write_results(arguments.out / "difference.json", sets=results)


if __name__ == "__main__":
    main()
