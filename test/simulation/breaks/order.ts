import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { FileJournal } from "#src/money/journal/file-journal.ts";
import { RunningRequests } from "#src/money/ledger/running-requests.ts";
import { LateCharges } from "#src/money/ledger/settlement/late-charges.ts";
import { WaitQueue } from "#src/money/ledger/wallet/wait-queue.ts";
import { type OpenSlice, WalletSlices } from "#src/money/ledger/wallet/wallet-slices.ts";
import { priorities } from "#src/money/model/spending-order.ts";
import { type Break, getter, method } from "./break.ts";

const open = Object.getOwnPropertyDescriptor(WalletSlices.prototype, "open")?.get as () => readonly OpenSlice[];

const { enter } = WaitQueue.prototype;

/** Guarantees of what comes first, what comes once, and what is left behind. */
export const orderBreaks: readonly Break[] = [
  {
    name: "the last lots pay first",
    judge: "order",
    only: [],
    apply: getter(WalletSlices, "open", function (this: WalletSlices) {
      return open.call(this).toReversed();
    }),
  },
  {
    name: "the last parts of a credit line pay first",
    judge: "order",
    seed: 16,
    only: [],
    settings: { hasTerms: true, trafficMs: 5, requests: 1200 },
    apply: getter(WalletSlices, "open", function (this: WalletSlices) {
      const isOfLine = ({ priority }: OpenSlice) => priority === priorities.credit;
      const slices = open.call(this);
      return [...slices.filter((slice) => !isOfLine(slice)), ...slices.filter(isOfLine).toReversed()];
    }),
  },
  {
    name: "a request id may run twice at once",
    judge: "identities",
    seed: 3,
    only: [],
    settings: { trafficMs: 5, requests: 1200 },
    apply: method(RunningRequests, "mustBeNone", () => {}),
  },
  {
    name: "the journal forgets nothing",
    judge: "journals",
    only: [],
    apply: method(FileJournal, "forget", () => {}),
  },
  {
    name: "a charge whose slices are lost is given up",
    judge: "dead letters",
    seed: 3,
    only: ["suspend"],
    apply: method(LateCharges, "renew", async () => {
      throw failure(Reason.INVALID_ARGUMENT, "The charge cannot be made.");
    }),
  },
  {
    name: "nobody waits for money that others hold",
    judge: "refusals",
    only: [],
    settings: { trafficMs: 5, requests: 1200 },
    apply: method(WaitQueue, "enter", function (this: WaitQueue, ...[, ...parts]: Parameters<typeof enter>) {
      return enter.call(this, 0, ...parts);
    }),
  },
];
