import { formatUsd } from "#lib/money/money.ts";
import { dayMs, dayName } from "#lib/time/days.ts";
import { chainSums, climb, newAccountDigest } from "../../seals/seal-tree.ts";
import { checkCharge } from "./check-charge.ts";
import { LotCheck } from "./check-lots.ts";
import { Misfit, must, mustMake } from "./misfit.ts";
import { Line } from "./read-line.ts";

/** The kinds of movements besides charges, by what they do to the balance: money comes in, goes, or pays what was owed. */
const signs: Readonly<Record<string, bigint>> = { topup: 1n, grant: 1n, refund: -1n, lapse: -1n, repayment: 0n };

/** The account's charges of the day that is read. */
class Day {
  receipts = 0;
  cost = 0n;
  readonly digest = newAccountDigest();
  readonly day: number;

  constructor(day: number) {
    this.day = day;
  }
}

/** The last seal that was read. */
interface Link {
  readonly number: number;
  readonly chain: string;
}

/**
 * Checks a statement line by line, without the service: each cost from tokens and rates, each balance from movements,
 * what each credit has, each sealed day from its charges. Keeps sums and credits with money alone, however long the
 * statement is.
 */
export class StatementCheck {
  #account: { id: string; from: number; to: number } | undefined;
  #balance: bigint | undefined;
  #opening = 0n;
  /** Undefined: the statement does not tell what each credit has, as older ones. */
  #lots: LotCheck | undefined;
  #isClosed = false;
  /** The time of the last movement; days that were sealed are over. */
  #at = 0;
  #lastCharge = "";
  #today = new Day(-1);
  #link: Link | undefined;
  #sealedDays = 0;
  /** The days with charges that no seal proves. */
  readonly #unproved: number[] = [];
  readonly #sums = { topup: 0n, grant: 0n, refund: 0n, lapse: 0n, repayment: 0n, charge: 0n, charges: 0 };

  /** Checks the next line. Throws a Misfit. */
  add(text: string): void {
    const line = Line.parse(text);
    if (this.#isClosed) {
      throw new Misfit("it comes after the closing balance");
    }
    if (this.#account === undefined) {
      this.#begin(line);
    } else if (this.#balance === undefined) {
      must(line.kind === "opening", "the second line is the opening balance");
      this.#balance = line.balance("balance");
      this.#opening = this.#balance;
      this.#lots = line.has("lots") ? new LotCheck(line, this.#at) : undefined;
    } else {
      this.#go(line, this.#account, this.#balance);
    }
  }

  /** A line of sums. Throws a Misfit when lines are missing. */
  finish(): string {
    if (!this.#isClosed || this.#account === undefined) {
      throw new Misfit("the closing balance is missing");
    }
    const { id, from, to } = this.#account;
    const { topup, grant, refund, lapse, charge, charges } = this.#sums;
    const moved = [
      ...[`opening ${formatUsd(this.#opening)}`, `top-ups ${formatUsd(topup)}`, `grants ${formatUsd(grant)}`],
      ...[`refunds ${formatUsd(refund)}`, `lapsed ${formatUsd(lapse)}`, `${charges} charges ${formatUsd(charge)}`],
      `closing ${formatUsd(this.#balance ?? 0n)} USD`,
    ];
    const chain = this.#link === undefined ? "" : `, the last by seal ${this.#link.number}, chain ${this.#link.chain}`;
    const told = this.#lots === undefined ? " (what each credit had is not in it)" : "";
    const unproved = this.#unproved.length === 0 ? "" : `; no seal proves the charges of ${nameDays(this.#unproved)}`;
    return `account ${id}, ${dayName(from)} to ${dayName(to)}: ${moved.join(", ")}${told}; ${this.#sealedDays} of ${to - from} days sealed${chain}${unproved}`;
  }

  #begin(line: Line): void {
    must(line.kind === "account", "the first line names the account");
    this.#account = { id: line.text("account_id"), from: line.day("from"), to: line.day("to") };
    this.#at = this.#account.from * dayMs;
    must(this.#account.from < this.#account.to, "it begins before it ends");
  }

  #go(line: Line, account: { id: string; from: number; to: number }, balance: bigint): void {
    if (line.kind === "closing") {
      mustMake("balance", balance, line.balance("balance"));
      this.#close(line, account);
    } else if (line.kind === "lots" && this.#lots !== undefined) {
      this.#lots.addPage(line);
    } else {
      this.#lots?.demandWhole();
      if (line.kind === "seal") {
        this.#seal(line, account);
      } else {
        this.#move(line, account, balance);
      }
    }
  }

  #close(line: Line, { to }: { to: number }): void {
    this.#isClosed = true;
    if (this.#lots === undefined) {
      must(!line.has("lots"), "it has credits, and the opening balance has none");
      return;
    }
    const at = line.time("at").getTime();
    must(at >= this.#at && at <= to * dayMs, "it is not of the end of these days");
    this.#lots.finish(line);
  }

  #move(line: Line, { id, to }: { id: string; to: number }, balance: bigint): void {
    const at = line.time("at").getTime();
    must(at >= this.#at && at < to * dayMs, "it is not in the order of time, or not of these days");
    const after = balance + this.#change(line, id, Math.floor(at / dayMs));
    mustMake("balance", after, line.balance("balance"));
    this.#at = at;
    this.#balance = after;
  }

  /** What a movement does to the balance. */
  #change(line: Line, accountId: string, day: number): bigint {
    if (line.kind === "charge") {
      const { cost, parts, digest } = checkCharge(line, accountId);
      const place = `${line.text("at")} ${line.text("run_id")}`;
      const charge = `${place} ${line.text("request_id")}`;
      must(place >= this.#lastCharge.slice(0, place.length) && charge !== this.#lastCharge, "it is not in its order");
      this.#lastCharge = charge;
      if (this.#today.day !== day) {
        this.#today = new Day(day);
        this.#unproved.push(day);
      }
      this.#today.receipts++;
      this.#today.cost += cost;
      this.#today.digest.update(digest);
      this.#sums.charges++;
      this.#sums.charge += cost;
      this.#lots?.charge(line.text("model"), parts);
      return -cost;
    }
    const sign = signs[line.kind];
    if (sign === undefined) {
      throw new Misfit(`there is no kind ${line.kind} here`);
    }
    const amount = line.usd("amount");
    this.#sums[line.kind as "topup" | "grant" | "refund" | "lapse" | "repayment"] += amount;
    this.#lots?.move(line, amount);
    return sign * amount;
  }

  #seal(line: Line, { id: accountId, to }: { id: string; to: number }): void {
    const [day, number] = [line.day("day"), line.count("number")];
    must(day < to && this.#at < (day + 1) * dayMs, "it is not in the order of days, or not of these");
    const [before, root, chain] = [line.text("before"), line.text("root"), line.text("chain")];
    if (line.has("digest") || this.#today.day === day) {
      this.#sealCharges(line, accountId, this.#today.day === day ? this.#today : new Day(day));
      if (this.#unproved.at(-1) === day) {
        this.#unproved.pop();
      }
    }
    const made = chainSums(before, { number, day, root, sums: line.text("sums") });
    must(made === chain, "its chain is not made of what it follows and of itself");
    must(this.#link?.number !== number - 1 || this.#link.chain === before, "it does not follow the seal before it");
    this.#link = { number, chain };
    this.#at = (day + 1) * dayMs;
    this.#sealedDays++;
  }

  /** Shows that the account's charges are those below the root. */
  #sealCharges(line: Line, accountId: string, { receipts, cost, digest }: Day): void {
    must(line.has("digest"), "the account has no charges of that day in it");
    mustMake("receipts", BigInt(receipts), BigInt(line.count("receipts")), String);
    mustMake("cost", cost, line.usd("cost"));
    const made = digest.copy().digest("hex");
    must(made === line.text("digest"), "the charges of that day are not those that were sealed");
    const path = line.list("path").map((step) => {
      const side = step.text("side");
      must(side === "left" || side === "right", "a side is left or right");
      return { side: side as "left" | "right", hash: step.text("hash") };
    });
    const seal = { accountId, receipts, costHigh: Number(cost / 1_000_000n), costLow: Number(cost % 1_000_000n) };
    must(climb({ ...seal, digest: made }, path) === line.text("root"), "its path does not lead to its root");
  }
}

const mostNamed = 5;

const nameDays = (days: readonly number[]): string =>
  days.length <= mostNamed
    ? days.map(dayName).join(", ")
    : `${days.slice(0, mostNamed).map(dayName).join(", ")} and ${days.length - mostNamed} further days`;
