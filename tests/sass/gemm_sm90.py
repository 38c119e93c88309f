# SPDX-License-Identifier: Apache-2.0
"""What the machine code of gemm_sm90 is made of: wgmma, TMA load, TMA store, setmaxnreg."""
REQUIRED = ["UTMALDG", "UTMASTG", "USETMAXREG"]
BY_ELEMENTS = ["UTMALDG", "USETMAXREG"]  # swapped, with an extended epilogue
SPLIT_K = ["UTMALDG", "UBLKCP", "ATOMG", "USETMAXREG"]  # reduce-scatter stores D from registers
# Waits on the ring whose address is no uniform register. A few stand outside the main loops; with more, ptxas has lost
# the proof that slots are the same in all lanes, and every k-block pays for descriptors made of vector registers.
VECTOR_WAIT = r"SYNCS\.PHASECHK\S*TRYWAIT.*\[R\d"
VECTOR_WAITS = 4
COUNTED = {"vector wait": VECTOR_WAIT}


def required(row):
    wgmma = [{"int8": "IGMMA", "e4m3": "QGMMA", "e5m2": "QGMMA"}.get(row["type"], "HGMMA")]
    if row["columns"]["scales"] != "no":
        wgmma = wgmma + ["LDGSTS"]
    if row["columns"]["swap"] == "swap" and row["columns"]["extended"] == "extended":
        return wgmma + BY_ELEMENTS
    return wgmma + (SPLIT_K if row["columns"]["split_k"] == "split" else REQUIRED)


def check(row, counter):
    """Multicast exactly where the cluster shares an operand; slots of the ring in uniform registers."""
    cluster = row["columns"]["cluster_m"], row["columns"]["cluster_n"]
    loads = [op for op in counter if op.startswith("UTMALDG")]
    shared = [op for op in loads if "MULTICAST" in op]
    if (max(cluster) > 1) != bool(shared):
        yield "cluster %dx%d, but multicast loads: %s" % (*cluster, shared or "none")
    if loads and 1 in cluster and len(shared) == len(loads):
        yield "the operand that no CTA shares is loaded by multicast"
    if counter["vector wait"] > VECTOR_WAITS:
        yield "%d waits on slots in vector registers" % counter["vector wait"]
