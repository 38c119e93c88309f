// SPDX-License-Identifier: Apache-2.0
// Integer expressions in `lane`, as program/smem/expression.c has them: numbers of 64 bits, and every overflow is an
// error.

const EXPRESSION_BYTES_MAX = 1024, EXPRESSION_DEPTH_MAX = 64; // parentheses and signs within each other
const INT64_MIN = -(2n ** 63n), INT64_MAX = 2n ** 63n - 1n;
const TIGHTNESS = {"|": 1, "^": 2, "&": 3, "<<": 4, ">>": 4, "+": 5, "-": 5, "*": 6, "/": 6, "%": 6};

class ExpressionError extends Refusal {
    constructor(column, sentence) {
        super(`column ${column + 1}: ${sentence}`);
        this.column = column; // from 0, in bytes of UTF-8
    }
}

// `lane` is a number; so is the value, where it fits 53 bits, which an address does. What does not is a BigInt.
function expressionValue(text, lane) {
    const bytes = String.fromCharCode(...new TextEncoder().encode(text));
    let at = 0, depth = 0;

    const fail = (column, sentence) => { throw new ExpressionError(column, sentence); };
    const skipSpaces = () => {
        while (/[ \t\n\v\f\r]/.test(bytes.charAt(at)))
            at++;
    };
    const wordFrom = (first) => /^\w*/.exec(bytes.slice(first))[0];
    const fitting = (value, column, sentence) =>
        value < INT64_MIN || value > INT64_MAX ? fail(column, sentence) : value;

    function shift(sign, column, left, right) {
        if (right < 0n || right > 63n)
            fail(column, `a shift by ${right} places; 0 to 63 are possible`);
        if (sign === ">>") // rounds down, for negative numbers too
            return left >> right;
        const value = right === 63n && left !== 0n ? INT64_MAX + 1n : left << right; // 2^63 is no factor that fits
        return fitting(value, column, `${left} << ${right} does not fit 64 bits`);
    }
    function divide(sign, column, left, right) {
        if (right === 0n)
            fail(column, `a division by 0 (lane ${lane})`);
        if (right === -1n && left === INT64_MIN)
            fail(column, "the quotient does not fit 64 bits");
        return sign === "/" ? left / right : left % right;
    }
    function apply(sign, column, left, right) {
        const sentence = `the result does not fit 64 bits (lane ${lane})`;
        switch (sign) {
        case "|": return left | right;
        case "^": return left ^ right;
        case "&": return left & right;
        case "<<": case ">>": return shift(sign, column, left, right);
        case "/": case "%": return divide(sign, column, left, right);
        case "+": return fitting(left + right, column, sentence);
        case "-": return fitting(left - right, column, sentence);
        default: return fitting(left * right, column, sentence);
        }
    }

    function readNumber() {
        const first = at, hexadecimal = /^0[xX]/.test(bytes.slice(first));
        const digits = (hexadecimal ? /^[0-9a-fA-F]*/ : /^[0-9]*/).exec(bytes.slice(first + (hexadecimal ? 2 : 0)))[0];
        const value = digits ? BigInt(hexadecimal ? "0x" + digits : digits) : 0n;
        at = first + (hexadecimal ? 2 : 0) + digits.length;
        fitting(value, first, "a number does not fit 64 bits");
        if (!digits || wordFrom(at))
            fail(first, "this is no number; there are decimal ones and 0x with hexadecimal digits");
        return value;
    }
    function readName() {
        const first = at, word = wordFrom(first);
        at += word.length;
        return word === "lane" ? BigInt(lane) :
            fail(first, `\`${word.slice(0, 40)}\` is unknown; the one name is \`lane\`, 0 to 31`);
    }
    function readParentheses() {
        const open = at++, value = readBinary(1);
        skipSpaces();
        if (bytes[at] !== ")")
            fail(open, "this parenthesis is never closed");
        at++;
        return value;
    }
    function readSigned() {
        const column = at++, sign = bytes[column], value = readOperand();
        return sign === "-" ? apply("-", column, 0n, value) : sign === "~" ? ~value : value;
    }
    function refuseOperand(c) {
        if (!c)
            fail(at, "an operand is missing at the end");
        if (c < " " || c > "~")
            fail(at, `a byte 0x${c.charCodeAt(0).toString(16).padStart(2, "0")} has no meaning here`);
        return fail(at, `\`${c}\` stands where a number, lane or ( must be`);
    }
    function readOperand() {
        skipSpaces();
        if (++depth > EXPRESSION_DEPTH_MAX)
            fail(at, `more than ${EXPRESSION_DEPTH_MAX} parentheses and signs within each other`);
        const c = bytes.charAt(at);
        const value = /[0-9]/.test(c) ? readNumber() : /\w/.test(c) ? readName() : c === "(" ? readParentheses() :
            c === "-" || c === "+" || c === "~" ? readSigned() : refuseOperand(c);
        depth--;
        return value;
    }
    // Operands joined by operators that bind at least so tightly; those of equal tightness from left to right.
    function readBinary(tightness) {
        let left = readOperand();
        for (;;) {
            skipSpaces();
            const column = at, sign = (/^(<<|>>|[-+*/%&^|])/.exec(bytes.slice(at)) || [])[0];
            if (!sign || TIGHTNESS[sign] < tightness)
                return left;
            at += sign.length;
            left = apply(sign, column, left, readBinary(TIGHTNESS[sign] + 1));
        }
    }

    if (bytes.length > EXPRESSION_BYTES_MAX)
        fail(EXPRESSION_BYTES_MAX, `the expression is longer than ${EXPRESSION_BYTES_MAX} characters`);
    const value = readBinary(1);
    skipSpaces();
    if (bytes[at] === ")")
        fail(at, "this parenthesis was never opened");
    if (at < bytes.length)
        fail(at, "an operator is missing before this; there are + - * / % & | ^ << >>");
    return value >= -(2n ** 53n) && value <= 2n ** 53n ? Number(value) : value;
}
