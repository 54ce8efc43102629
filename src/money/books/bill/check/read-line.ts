import { parseRate, parseUsd } from "#lib/money/money.ts";
import { dayMs } from "#lib/time/days.ts";
import { Misfit } from "./misfit.ts";

/** A line of a statement, whose fields are read as what they have to be. */
export class Line {
  readonly kind: string;
  readonly #fields: Readonly<Record<string, unknown>>;

  constructor(fields: unknown) {
    if (typeof fields !== "object" || fields === null || Array.isArray(fields)) {
      throw new Misfit("it is no object");
    }
    this.#fields = fields as Record<string, unknown>;
    this.kind = this.text("kind");
  }

  static parse(text: string): Line {
    let fields: unknown;
    try {
      fields = JSON.parse(text);
    } catch {
      throw new Misfit("it is no JSON");
    }
    return new Line(fields);
  }

  has(name: string): boolean {
    return this.#fields[name] !== undefined;
  }

  text(name: string): string {
    const value = this.#fields[name];
    return typeof value === "string" ? value : this.#refuse(name, "a text");
  }

  count(name: string): number {
    const value = this.#fields[name];
    return Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : this.#refuse(name, "a whole number");
  }

  /** An amount of USD that is not negative, in pico-USD. */
  usd(name: string): bigint {
    return parseUsd(this.text(name)) ?? this.#refuse(name, "an amount of USD");
  }

  /** An amount of USD, which may be owed, in pico-USD. */
  balance(name: string): bigint {
    const text = this.text(name);
    const amount = parseUsd(text.replace(/^-/, "")) ?? this.#refuse(name, "an amount of USD");
    return text.startsWith("-") ? -amount : amount;
  }

  /** A price in USD per 1M tokens, in pico-USD a token. */
  rate(name: string): bigint {
    return parseRate(this.text(name)) ?? this.#refuse(name, "a price of 1M tokens");
  }

  /** A time in UTC, with milliseconds. */
  time(name: string): Date {
    const text = this.text(name);
    const time = new Date(text);
    return !Number.isNaN(time.getTime()) && time.toISOString() === text ? time : this.#refuse(name, "a time in UTC");
  }

  /** A UTC day, in whole days since 1970. */
  day(name: string): number {
    const text = this.text(name);
    const ms = Date.parse(`${text}T00:00:00.000Z`);
    const isDay = !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text) && text.length === 10;
    return isDay ? ms / dayMs : this.#refuse(name, "a day");
  }

  list(name: string): Line[] {
    const value = this.#fields[name];
    return Array.isArray(value)
      ? value.map((fields) => new Line({ kind: name, ...Object(fields) }))
      : this.#refuse(name, "a list");
  }

  #refuse(name: string, what: string): never {
    throw new Misfit(`${name} is not ${what}`);
  }
}
