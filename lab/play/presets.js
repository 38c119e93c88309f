// SPDX-License-Identifier: Apache-2.0
// The classical cases: a name, the hash that asks for it, and what there is to see.

const PRESETS = [
    ["Words in a line", [
        ["Stride 1", "address=lane * 4", "Neighbours ask for neighbouring words: 32 lanes, 32 banks, one wavefront."],
        ["Stride 2", "address=lane * 8", "Every second word: lanes 0 and 16 meet in bank 0, and so on. Half the " +
            "banks do nothing, the others work twice. A stride of s words makes gcd(s, 32) lanes meet."],
        ["Stride 32", "address=lane * 128", "All words lie in bank 0. It delivers one a wavefront: the lanes queue."],
        ["Stride 33", "address=lane * 132", "One word more than 32, and every lane has a bank of its own: odd " +
            "strides are free."],
        ["Broadcast", "address=64", "All lanes ask for one word. One wavefront brings it to all of them: what counts " +
            "is different words, not lanes."],
        ["Shared words", "address=(lane % 4) * 128", "Eight lanes share each word and ride together, but the " +
            "four words lie in one bank: four wavefronts."],
        ["Double words", "address=lane * 8&width=8", "32 lanes of 8 bytes are two lines of 128 bytes, so two phases " +
            "of 16 lanes are the ideal, and no conflict."],
    ]],
    ["A tile and its columns", [
        ["Column of 32x32", "tile=32x32&walk=column", "Rows of 128 bytes: a column lies in one bank from top to " +
            "bottom, which is one colour here."],
        ["Pad of 1", "tile=32x32&walk=column&pad=1", "One unused element a row shifts each row by a bank. The column " +
            "now has all colours."],
        ["Swizzle", "tile=32x32&walk=column&swizzle=5,2,5", "The row's number is XORed into the bank: as good as the " +
            "pad, and no byte is spent."],
        ["Transposing store", "tile=32x32&walk=column&kind=store", "A transpose stores down the columns, or loads " +
            "down them. A store pays for conflicts as a load does."],
        ["Transpose", "tile=32x32&walk=transpose", "Both halves: stored along the rows, loaded down the columns. One " +
            "of them is always against the grain."],
    ]],
    ["Vectors and matrices", [
        ["float4, pad of 1", "tile=32x32&walk=column&width=16&pad=1", "A lane's 16 bytes must begin on a multiple of " +
            "16. A pad of one float breaks that: the GPU refuses the access."],
        ["float4, pad of 4", "tile=32x32&walk=column&width=16&pad=4", "Pads come in steps of what a lane takes: 16 " +
            "bytes, 4 floats. Four phases of 8 lanes, each with all 32 banks busy."],
        ["ldmatrix", "tile=64x64&type=bf16&walk=ldmatrix", "Each matrix is 8 rows of 16 bytes. The rows are 128 " +
            "bytes apart, so all 8 lie in the same four banks."],
        ["ldmatrix, 128B", "tile=64x64&type=bf16&walk=ldmatrix&swizzle=128B", "TMA's 128B mode moves pieces of 16 " +
            "bytes about within their rows: the 8 rows of a matrix now lie in all 32 banks."],
    ]],
    ["Atomics", [
        ["Add, one word", "address=0&kind=atomic", "A read-modify-write shares nothing: all lanes queue for one word."],
        ["Count, one word", "address=0&kind=increment", "Adding the constant 1, as a histogram does, is done by " +
            "counting lanes: they share the word."],
    ]],
];
