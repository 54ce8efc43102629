import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ReconcileFinding, ReconcileResponse } from "#gen/tollgate/metering/v1/books_service_pb.js";
import { readSum } from "#src/storage/reads/exact-sum.ts";
import { LongRead } from "#src/storage/reads/long-read.ts";
import type { Row, Snapshot } from "#src/storage/reads/snapshot.ts";
import type { Storage } from "#src/storage/storage.ts";
import type { CoreLedger } from "../../model/core-ledger.ts";
import type { ArchivedReceipts } from "../receipts/archived-receipts.ts";
import { accountSums } from "./account-sums.ts";
import { addBreaches, finding, inSnapshot, mostFindings } from "./breaches.ts";
import { findDoubted, mostSums } from "./doubts.ts";
import { partSize, partsOf, readCuts } from "./parts.ts";
import type { Rule } from "./rules/reconcile-rules.ts";
import { rulesOf } from "./rules/rules.ts";
import { readScope } from "./scope.ts";
import { addBrokenSeals, addDifferences } from "./seal-checks.ts";

const unknownSlice = "an open slice is known to the core that leased it";

/** The progress of a proof: how many rules are proved, how many there are, and which comes next. */
export interface ReconcileStep {
  readonly done: number;
  readonly total: number;
  readonly rule: string;
}

/** The rule that each account and the total of all accounts keep. */
const wholeRule = "top-ups + grants = balance + spend + refunds + expired - debt";

/** The money that is leased to the running core and that it does not know of, as of the moment, not of a snapshot. */
export async function unknownSlices(ledger: Pick<CoreLedger, "unknownSlices">): Promise<ReconcileFinding[]> {
  const unknown = await ledger.unknownSlices();
  return unknown
    .slice(0, mostFindings)
    .map(({ id, unspent }) => finding(unknownSlice, `slice ${id}`, `expected closed, found ${unspent} unspent`));
}

/** How books are proved. */
export interface ProofOptions {
  /** Whether the receipts of sealed days are read again, and compared with their seals. */
  readonly all?: boolean;
  /** The archives, which are then compared with their digests, too. Absent: they are not. */
  readonly archives?: Pick<ArchivedReceipts, "findFaulty">;
  /** Called for each rule, before what is proved together with it. */
  readonly onStep?: (step: ReconcileStep) => void;
  /**
   * Leaves time to others, between rules, parts of the open days and sealed days; the proof ends where it throws. Absent: the
   * proof ends as soon as it can.
   */
  readonly pace?: () => Promise<void>;
  /** Receipts that are proved at once, where not all of them are read again. */
  readonly size?: number;
  /** Sums of receipts that are held at once. */
  readonly most?: number;
}

/** With `all`: what is proved after the rules. */
const sealedRule = "the receipts of a sealed day are those of its seal";
const archiveRule = "an archive is the file that was written";

/** What is proved together, of the same receipts: each kind reads them once, and one that reads none little. */
const togetherWith = ({ ofDay, addends, name }: Rule): string => ofDay ?? (addends === undefined ? name : "slices");

/**
 * Proves that each account and the total of all accounts add up (top-ups + grants = balance + spend + refunds + expired -
 * debt) and that every stored sum equals the rows that it sums up. Names the first rows that do not. Days that were
 * proved and sealed are believed, as long as no charge of theirs came later. Each rule is proved in snapshots of its
 * own, which running requests cannot disturb: no rule needs what another one read, and row versions that a snapshot
 * keeps make charges slow. A standby is read where one is near enough. Given the running core's ledger, also proves that
 * the core knows all money leased to it.
 */
export async function reconcile(
  storage: Storage,
  ledger?: Pick<CoreLedger, "unknownSlices">,
  options: ProofOptions = {},
): Promise<ReconcileResponse> {
  const { all = false, archives, onStep = () => {}, pace = async () => {}, size = partSize, most = mostSums } = options;
  const reading = new LongRead(storage);
  const { dialect } = reading;
  const steps = [...Map.groupBy(rulesOf(dialect), (rule) => (all ? rule.name : togetherWith(rule))).values()];
  const proved = steps.flat();
  const total = proved.length + (all ? 2 : 1);
  onStep({ done: 0, total, rule: wholeRule });
  const findings = ledger === undefined ? [] : await unknownSlices(ledger);
  const read = <T>(of: (snapshot: Snapshot) => Promise<T>): Promise<T> => {
    const before = findings.length;
    return reading.attempt(() => {
      findings.length = before; // a read that broke off may have added some
      return inSnapshot(reading, of);
    });
  };
  const totals = await read(async (snapshot) => {
    await addBrokenSeals(snapshot, findings);
    return addAccounts(snapshot, findings);
  });
  const reader = { dialect, read, pace };
  const cuts = all ? [] : await readCuts(reader, await read((snapshot) => readScope(snapshot, all)), size);
  const parts = steps.flatMap((rules) => {
    const isSummed = cuts.length > 0 && rules.every(({ addends }) => addends !== undefined);
    return partsOf(rules[0]?.ofDay, cuts).map((within, at) => ({
      ...{ rules, within, isSummed },
      begun: at === 0 ? rules : [],
    }));
  });
  for (const { rules, within, isSummed, begun } of parts) {
    if (findings.length >= mostFindings) {
      break;
    }
    await pace();
    for (const rule of begun) {
      onStep({ done: proved.indexOf(rule) + 1, total, rule: rule.name });
    }
    const judged = isSummed ? await findDoubted(rules, within, { ...reader, size, cuts, most }) : rules;
    if (judged.length > 0) {
      await read(async (snapshot) => {
        // A day that was sealed meanwhile, and whose receipts may have left, is no longer looked at.
        const scope = { ...(await readScope(snapshot, all)), within };
        await addBreaches(snapshot, judged, { scope, dialect }, findings);
      });
    }
  }
  if (all) {
    onStep({ done: total - 1, total, rule: sealedRule });
    await addDifferences(storage, reading, { rule: sealedRule, pace }, findings);
    findings.push(...(await findFaulty(archives)));
  }
  return {
    $typeName: "tollgate.metering.v1.ReconcileResponse",
    ok: findings.length === 0,
    accounts: totals.accounts,
    receipts: totals.receipts,
    grantedPicoUsd: String(totals.granted),
    balancePicoUsd: String(totals.balance),
    spentPicoUsd: String(totals.spent),
    refundedPicoUsd: String(totals.refunded),
    expiredPicoUsd: String(totals.expired),
    debtPicoUsd: String(totals.debt),
    findings,
    ...(reading.asOf !== undefined && { asOf: timestampFromMs(reading.asOf) }),
  };
}

async function findFaulty(archives: ProofOptions["archives"]): Promise<ReconcileFinding[]> {
  const faulty = (await archives?.findFaulty()) ?? [];
  return faulty.map(({ day, found }) =>
    finding(archiveRule, `receipt_archive ${day}`, `expected the file that was written, found ${found}`),
  );
}

/** Checks the invariant for every account, and sums the accounts up exactly: their total may exceed 64 bits. */
async function addAccounts(snapshot: Snapshot, findings: ReconcileFinding[]) {
  const totals = {
    accounts: 0n,
    receipts: 0n,
    granted: 0n,
    balance: 0n,
    spent: 0n,
    refunded: 0n,
    expired: 0n,
    debt: 0n,
  };
  for await (const rows of snapshot.rows(accountSums)) {
    for (const row of rows) {
      const account = readAccount(row);
      totals.accounts++;
      for (const name of sumNames) {
        totals[name] += account[name];
      }
      const accounted = account.balance + account.spent + account.refunded + account.expired - account.debt;
      if (account.granted !== accounted && findings.length < mostFindings) {
        findings.push(finding(wholeRule, `account ${row.id}`, `expected ${account.granted}, found ${accounted}`));
      }
    }
  }
  return totals;
}

const sumNames = ["receipts", "granted", "balance", "spent", "refunded", "expired", "debt"] as const;

function readAccount(row: Row): Record<(typeof sumNames)[number], bigint> {
  return {
    receipts: BigInt(String(row.receipts)),
    granted: readSum(row, "granted"),
    balance: readSum(row, "unspent") - readSum(row, "lent"),
    spent: readSum(row, "spent"),
    refunded: readSum(row, "refunded"),
    expired: readSum(row, "expired"),
    debt: BigInt(String(row.debt)) + readSum(row, "drawn") + readSum(row, "drawing"),
  };
}
