import type { Money } from "#src/compose/core/money/money.ts";
import type { Meaning } from "../database/statement.ts";
import type { Judge } from "../judges/names.ts";
import type { Settings } from "../simulate.ts";

/** A guarantee that is removed: the judges must notice. */
export interface Break {
  readonly name: string;
  /** The judge that reports it. */
  readonly judge: Judge;
  /** The faults against which the guarantee protects. */
  readonly only: readonly string[];
  /** Removes the guarantee. Returns the function that restores it. Absent: `instead` or `alter` removes it. */
  apply?(): () => void;
  readonly instead?: Readonly<Record<string, Meaning>>;
  readonly alter?: (money: Money) => void;
  /**
   * A world that shows the break. The test lives other worlds, too, in case this one no longer does. Absent: the first.
   */
  readonly seed?: number;
  /** How the world differs from that of the other breaks. */
  readonly settings?: Pick<
    Settings,
    | "trafficMs"
    | "faultsMs"
    | "requests"
    | "isSqlite"
    | "bookSize"
    | "isNight"
    | "hasNews"
    | "hasTerms"
    | "hasKeys"
    | "hasLabels"
  >;
}

/** Replaces a property of a class. */
export function patch(of: object, name: string, descriptor: PropertyDescriptor): () => void {
  const before = Object.getOwnPropertyDescriptor(of, name) as PropertyDescriptor;
  Object.defineProperty(of, name, { ...descriptor, configurable: true });
  return () => Object.defineProperty(of, name, before);
}

/** Replaces a method of a class. */
export const method = (of: { prototype: object }, name: string, value: unknown) => () =>
  patch(of.prototype, name, { value, writable: true });

/** Replaces a getter of a class. */
export const getter =
  <Of extends object>(of: { prototype: Of }, name: string, get: (this: Of) => unknown) =>
  () =>
    patch(of.prototype, name, { get });
