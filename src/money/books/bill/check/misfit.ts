import { formatUsd } from "#lib/money/money.ts";

/** Why a line of a statement does not fit. */
export class Misfit extends Error {
  override readonly name = "Misfit";
}

/** Throws a Misfit unless something holds. */
export function must(holds: boolean, otherwise: string): void {
  if (!holds) {
    throw new Misfit(otherwise);
  }
}

/** Throws a Misfit unless a field has the value that others make. */
export function mustMake(name: string, made: bigint, told: bigint, show: (value: bigint) => string = formatUsd): void {
  if (made !== told) {
    throw new Misfit(`${name} is ${show(told)}, and is made ${show(made)}`);
  }
}
