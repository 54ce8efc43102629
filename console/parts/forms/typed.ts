import { maxPicoUsd, parseUsd } from "../../../lib/money/money.ts";

/** Reads a typed whole number. Undefined: the text is empty. Throws an error that says what is wrong. */
export function readWhole(text: string, name: string): number | undefined {
  const typed = text.trim();
  if (typed === "") {
    return undefined;
  }
  const digits = /^\d{1,3}([,_ ]\d{3})+$/.test(typed) ? typed.replace(/[,_ ]/g, "") : typed;
  if (!/^[1-9]\d{0,8}$/.test(digits)) {
    throw new Error(`${name} has to be a whole number above zero and below 1,000,000,000. Leave it empty for none.`);
  }
  return Number(digits);
}

/** Reads a typed amount, in pico-USD. Undefined: the text is empty. Throws an error that says what is wrong. */
export function readUsd(text: string, name: string): bigint | undefined {
  const typed = text.trim();
  if (typed === "") {
    return undefined;
  }
  const pico = parseUsd(typed);
  if (pico === undefined || pico === 0n || pico > maxPicoUsd) {
    throw new Error(`${name} has to be USD above 0 and below 9007, such as 20 or 4.99. Leave it empty for none.`);
  }
  return pico;
}
