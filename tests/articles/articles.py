#!/usr/bin/env python3
"""Arithmetic behind docs/articles.md: what the articles state and what follows from their own numbers.

  articles.py            every claim, one line each; exit code 1 if a figure of docs/articles.md does not follow
  articles.py NAME ...   only these (names as docs/articles.md gives them)

What needs the library (errors, bits of real caches) is shown by `compare` and `oaken_profiler`, not here.
"""
import math
import random
import shutil
import subprocess
import sys
import tempfile

CLAIMS = {}


def claim(function):
    CLAIMS[function.__name__] = function
    return function


def close(value, wanted, digits=2):
    assert abs(value - wanted) < 0.5001 * 10 ** -digits, (value, wanted)
    return value


# --- Oaken ---------------------------------------------------------------------------------------
@claim
def effective_bits():
    """4 + 8 * outlier share + six halves per token over the D values of all KV heads."""
    bits = {d: 4 + 8 * 0.10 + 6 * 16 / d for d in (4096, 5120, 1024)}
    close(bits[4096], 4.82), close(bits[5120], 4.82), close(bits[1024], 4.89)
    counts = 8 / 64
    return (f"{bits[4096]:.2f} bits for Llama2-7B, {bits[1024]:.2f} for 70B (published: 4.82, 4.89); "
            f"counts add {counts}: {16 / bits[4096]:.2f} times smaller than F16 by bits, not 2.1")


@claim
def saved_against_8_bit():
    outliers, middle, cache = 1 - 5 / 8, 1 - 4 / 8, 1 - 4.8 / 8
    assert (outliers, middle) == (0.375, 0.5)
    close(cache, 0.40)
    return f"37.5 % holds for an outlier's code alone; the middle saves {middle:.0%}, the cache {cache:.0%}, against F16 {1 - 4.8 / 16:.0%}"


@claim
def entry_history():
    """The slides forget that the place of an outlier in the dense matrix still has four bits."""
    slides = [0.9 * 4 + 0.1 * entry for entry in (23, 12, 8)]
    real = [4 + 0.1 * entry for entry in (23, 12, 8)]
    return "slides " + " ".join(f"{b:.1f}" for b in slides) + ", with the dense places " + " ".join(f"{b:.1f}" for b in real)


@claim
def index_width():
    chunk = 2 ** 6
    return f"6 bits address {chunk} channels of one token; a token of head_dim 128 has {128 // chunk} chunks; the length of the sequence is in no index"


@claim
def literal_side_of_the_middle():
    """Equation 4 as printed: codes of both sides share one range, the side is lost (golden C4)."""
    t_lo, t_hi, u_lo, u_hi = -2.0, 2.0, -3.0, 4.75
    step = (u_hi - u_lo) / 31
    code = round((-2.0625 - t_lo - u_lo) / step)
    u = u_lo + code * step
    wrong = u + t_hi
    assert abs(wrong - 2.0) < 1e-9
    return f"-2.0625 is coded {code} and reads as {wrong:+.4f} when the nearer threshold is guessed; with the zero split as -2.25"


# --- The tiered cache ----------------------------------------------------------------------------
def tiers(high, middle, low):
    return (16 * high + 8 * middle + 4 * low) / 100


@claim
def tier_ratios():
    found = {shares: tiers(*shares) for shares in ((10, 60, 30), (15, 70, 15), (20, 65, 15))}
    text = ", ".join(f"{':'.join(map(str, s))} {b:.1f} bits {16 / b:.2f}x" for s, b in found.items())
    close(16 / found[(10, 60, 30)], 2.11), close(16 / found[(15, 70, 15)], 1.86), close(16 / found[(20, 65, 15)], 1.78)
    rest = (16 / 6.4 - 0.10 * 16) / 0.90
    close(rest, 1.0)
    return text + f"; 6.4x with 10 % at 16 bits leaves {rest:.1f} bit for all the rest"


@claim
def percentile_rule():
    bits = tiers(10, 50, 40)
    close(16 / bits, 2.22)
    return f"above P90, P40 to P90, below P40 is 10:50:40 ({bits:.1f} bits, {16 / bits:.2f}x), not 10:60:30 ({tiers(10, 60, 30):.1f})"


@claim
def argsort_ascends():
    mass = [0.1, 0.7, 0.2]
    order = sorted(range(3), key=lambda head: mass[head])
    assert order[0] == 0
    return f"argsort of masses {mass} is {order}: its first tenth, given 16 bits, is the head attended least; and int(0.1 * 8 heads) = {int(0.1 * 8)} heads"


@claim
def softmax_mass_per_head():
    random.seed(1)
    for _ in range(4):
        scores = [random.gauss(0, 3) for _ in range(100)]
        top = max(scores)
        weights = [math.exp(s - top) for s in scores]
        close(sum(w / sum(weights) for w in weights), 1.0, 9)
    return "the softmax weights of a head sum to 1, so every head has the same mass: rank by what lies beyond sinks and the recent tokens"


@claim
def llama2_70b_memory():
    layers, heads, dim = 80, 8, 128
    per_token = 2 * layers * heads * dim * 2
    sizes = [per_token * tokens / 2 ** 30 for tokens in (8192, 32768, 131072)]
    assert sizes == [2.5, 10.0, 40.0]
    return f"F16 with 8 KV heads: {per_token // 1024} KiB per token, {sizes} GiB at 8K, 32K, 128K; the article's 6, 24, 96 are 2.4 times that"


@claim
def llama2_70b_on_80_gb():
    """The article's decode figures for F16 on one card of 80 GB."""
    weights = 70e9 * 2 / 1e9
    assert weights > 80
    return f"the 16-bit weights of a 70B model are {weights:.0f} GB: they do not fit a card of 80 GB, with or without a cache"


@claim
def eight_times_faster():
    return f"reading {16 / tiers(10, 60, 30):.2f} times fewer bytes cannot be 8 times faster; the article's own table gives 215 / 42 = {215 / 42:.1f}"


@claim
def half_percent_loss():
    losses = [(92.4 - 91.7) / 92.4 * 100]
    close(losses[0], 0.76)
    return f"stated at most 0.5 %; its own table: similarity 92.4 to 91.7 is {losses[0]:.2f} % relative"


@claim
def mad_of_zero():
    """More than half equal values: the deviation is 0 and the clamp flattens the head."""
    values = [0.0] * 40 + [float(i) for i in range(1, 25)]
    median = sorted(values)[(len(values) - 1) // 2]
    mad = sorted(abs(v - median) for v in values)[(len(values) - 1) // 2]
    clamped = [min(max(v, median - 3 * 1.4826 * mad), median + 3 * 1.4826 * mad) for v in values]
    assert mad == 0 and set(clamped) == {median}
    return f"40 of 64 values equal: MAD 0, the clamp returns {median} everywhere: it causes the dead head that it is to cure"


@claim
def clamp_at_8_bit():
    """Error of clamping a Gaussian at three sigma: 2 * integral of (x - 3)^2 phi(x) beyond 3."""
    tail = 0.5 * math.erfc(3 / math.sqrt(2))
    density = math.exp(-4.5) / math.sqrt(2 * math.pi)
    lost = 2 * ((1 + 9) * tail - 3 * density)
    close(lost, 4.1e-4, 5)
    return f"clamping at 3 sigma loses {lost:.1e} of the energy, {lost / 2.9e-5:.0f} times the error of 8 bits (2.9e-5); at 4 bits it hides in 7.4e-3"


@claim
def mma_shape():
    """The printed instruction: four-bit operands, float accumulator, k = 128. No such form exists: the assembler refuses it."""
    assembler = shutil.which("ptxas") or shutil.which("/usr/local/cuda/bin/ptxas")
    if assembler is None:
        return "ptxas is not installed here; s4 products accumulate in s32 (m8n8k32, m16n8k32, m16n8k64), k128 is the 1-bit shape"
    kernel = (".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n"
              ".reg .b32 a<4>; .reg .f32 d<4>; .reg .s32 c<4>;\n%s\nret;\n}\n")
    printed = "mma.sync.aligned.m8n8k128.row.col.f32.s4.s4.f32 {d0, d1}, {a0}, {a1}, {d2, d3};"
    legal = "mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32 {c0, c1}, {a0}, {a1}, {c2, c3};"
    verdicts = []
    for line in (printed, legal):
        with tempfile.NamedTemporaryFile("w", suffix=".ptx") as source:
            source.write(kernel % line)
            source.flush()
            verdicts.append(subprocess.run([assembler, "-arch=sm_80", source.name, "-o", "/dev/null"],
                                           capture_output=True).returncode == 0)
    assert verdicts == [False, True], verdicts
    return "ptxas refuses m8n8k128 with f32.s4.s4.f32 and takes m8n8k32 with s32.s4.s4.s32"


# --- The controller ------------------------------------------------------------------------------
@claim
def class_wise_losses():
    """sum p_k (beta c_k - gamma q_k) has the same minimum for every token."""
    cost, quality = [0.125, 0.25, 0.5, 1.0], [0.6, 0.75, 0.9, 1.0]
    values = [0.1 * c - 0.1 * q for c, q in zip(cost, quality)]
    best = values.index(min(values))
    return f"the latency and quality terms of the loss prefer class {best} for every token alike: only the labels can tell tokens apart"


@claim
def layer_norm_of_weights():
    """Normalising attention weights before taking their variance makes the feature constant."""
    random.seed(2)
    variances = []
    for scale in (0.1, 1.0, 5.0):
        weights = [math.exp(scale * random.gauss(0, 1)) for _ in range(64)]
        total = sum(weights)
        weights = [w / total for w in weights]
        mean = sum(weights) / 64
        spread = math.sqrt(sum((w - mean) ** 2 for w in weights) / 64)
        normed = [(w - mean) / spread for w in weights]
        variances.append(sum(n * n for n in normed) / 64)
    for v in variances:
        close(v, 1.0, 9)
    return "LayerNorm over attention weights gives variance 1 for every token: normalise the scores, before the softmax"


@claim
def controller_parameters():
    count = 4 * 128 + 128 + 128 * 128 + 128 + 128 * 4 + 4
    assert count == 17668
    return f"4-128-128-4 has {count} parameters, and four features: entropy, rarity, attention variance and confidence (the article lists three)"


@claim
def metadata_share():
    """SmolLM shapes: 2-bit tags once per token, a half scale for K and V per layer, at 5 bits per value."""
    shares = {}
    for name, layers, kv_heads in (("135M", 30, 3), ("360M", 32, 5), ("1.7B", 24, 32)):
        payload = layers * kv_heads * 64 * 2 * 5
        shares[name] = (2 + layers * 2 * 16) / payload
    close(shares["135M"] * 100, 1.67), close(shares["360M"] * 100, 1.00), close(shares["1.7B"] * 100, 0.16)
    return "metadata " + ", ".join(f"{name} {share:.2%}" for name, share in shares.items()) + " at any length, not 0.8 % at 8K"


@claim
def small_board_memory():
    """SmolLM2-135M: 30 layers, 3 KV heads of 64."""
    mib = 30 * 3 * 64 * 2 * 2 * 4096 / 2 ** 20
    assert mib == 90.0
    return f"4096 tokens of the 135M model are {mib:.0f} MiB of F16: no cache limits a board of 8 GB to 1K"


@claim
def average_bits():
    saved = {s: 16 * (1 - s / 100) for s in (68, 65, 75)}
    return "memory saved 68, 65, 75 % are " + ", ".join(f"{b:.2f}" for b in saved.values()) + " bits with every scale and tag: the paper states none"


@claim
def four_bit_baseline():
    """Relative error of 4 bits on a Gaussian, 64 values per scale: max/7 and the max/3 that reproduces the paper's baseline."""
    random.seed(3)
    errors = []
    for levels in (7, 3):
        lost = energy = 0.0
        for _ in range(400):
            row = [random.gauss(0, 1) for _ in range(64)]
            step = max(map(abs, row)) / levels
            for x in row:
                code = max(-levels, min(levels, round(x / step)))
                lost += (x - code * step) ** 2
                energy += x * x
        errors.append(lost / energy)
    assert errors[1] > 4 * errors[0]
    return f"NMSE {errors[0]:.4f} with max/7 and {errors[1]:.4f} with max/3: a static 4-bit baseline of the second kind makes any controller look good"


def main(names):
    unknown = [name for name in names if name not in CLAIMS]
    if unknown:
        print(f"articles.py: no claim {', '.join(unknown)}; there are: {' '.join(CLAIMS)}")
        return 2
    failed = 0
    for name in names or CLAIMS:
        try:
            print(f"{name}: {CLAIMS[name]()}")
        except AssertionError as error:
            failed = 1
            print(f"{name}: FAILED {error}")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
