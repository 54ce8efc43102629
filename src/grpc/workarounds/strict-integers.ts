import { protoInt64 } from "@bufbuild/protobuf";

/*
 * Wrong: `fromJson` hands the text of a 64-bit integer to BigInt, which takes " 5", "+5" and "0x10" too.
 * Upstream: @bufbuild/protobuf 2.17.0 (`protoInt64.parse` and `uParse`).
 * Still needed while test/grpc/workarounds/strict-integers.test.ts sees such texts taken without it.
 * Delete when `fromJson` refuses them.
 */

/** As ProtoJSON writes a 64-bit integer. */
const decimal = /^-?\d+$/;

let isApplied = false;

/** Refuses 64-bit integers in JSON that are no plain decimal numbers: an amount must mean what it says. */
export function refuseLooseIntegers(): void {
  if (isApplied) {
    return;
  }
  isApplied = true;
  const mended = protoInt64 as { -readonly [Name in "parse" | "uParse"]: (typeof protoInt64)[Name] };
  for (const name of ["parse", "uParse"] as const) {
    const parse = protoInt64[name].bind(protoInt64);
    mended[name] = (value) => {
      if (typeof value === "string" && !decimal.test(value)) {
        throw new Error(`invalid 64-bit integer: ${JSON.stringify(value)}`);
      }
      return parse(value);
    };
  }
}
