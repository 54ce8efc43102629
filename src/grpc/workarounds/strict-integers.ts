import { protoInt64 } from "@bufbuild/protobuf";

/** As ProtoJSON writes a 64-bit integer. */
const decimal = /^-?\d+$/;

/**
 * Refuses 64-bit integers in JSON that are no plain decimal numbers. @bufbuild/protobuf 2 hands the text to BigInt,
 * which takes " 5", "0x10" and "" (as 0) too: an amount must mean what it says. Delete it once fromJson refuses them.
 */
function refuseLooseIntegers(): void {
  const parse = protoInt64.parse.bind(protoInt64);
  (protoInt64 as { parse: typeof parse }).parse = (value) => {
    if (typeof value === "string" && !decimal.test(value)) throw new Error(`invalid int64: ${JSON.stringify(value)}`);
    return parse(value);
  };
}

refuseLooseIntegers();
