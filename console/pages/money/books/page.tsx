import { useEffect, useRef, useState } from "preact/hooks";
import type { Event } from "#gen/tollgate/events/v1/events_service_pb.js";
import { countOf, formatCount } from "../../../format/numbers.ts";
import { formatSpan, formatTime, toDate } from "../../../format/time.ts";
import { Failure } from "../../../parts/calls/answer.tsx";
import { Meter } from "../../../parts/figures/figure.tsx";
import { Page } from "../../../parts/frame/page.tsx";
import { Addends } from "./addends.tsx";
import { DeadLetters } from "./dead-letters.tsx";
import { Equation, type Sums } from "./equation.tsx";
import { Findings } from "./findings.tsx";
import { Proofs, readSums, usePastProofs } from "./proofs.tsx";
import { type Progress, type Proof, prove } from "./prove.ts";

/** Proves, while the reader watches, that the books add up to the pico-dollar. */
export default function BooksPage() {
  const [proof, setProof] = useState<Proof | undefined>(undefined);
  const [progress, setProgress] = useState<Progress | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const past = usePastProofs();
  const abort = useRef(new AbortController());
  useEffect(() => () => abort.current.abort(), []);
  const start = async (): Promise<void> => {
    if (progress !== undefined) {
      return;
    }
    setProgress({ done: 0, total: 1, rule: "" });
    setError(undefined);
    try {
      setProof(await prove(abort.current.signal, setProgress));
    } catch (failure) {
      setError(failure);
    } finally {
      setProgress(undefined);
    }
  };
  return (
    <Page
      title="Books"
      lead="Every dollar accounted for: what came in is unspent, spent, refunded or expired, less what accounts owe. Checked for each account, credit and receipt."
      actions={
        <button type="button" class="primary" aria-busy={progress !== undefined} onClick={() => void start()}>
          Prove now
        </button>
      }
    >
      {progress && <Proving progress={progress} />}
      <div role="status" class="result">
        {progress === undefined && proof && <Result proof={proof} />}
      </div>
      {error !== undefined && <Failure error={error} retry={() => void start()} />}
      <Equation {...(proof === undefined ? toPast(past.data?.[0]) : { sums: toSums(proof) })} />
      <Addends />
      {proof && <Findings findings={proof.answer.findings} />}
      <Proofs query={past} />
      <DeadLetters />
    </Page>
  );
}

function toPast(event: Event | undefined) {
  return event === undefined ? { sums: undefined } : { sums: readSums(event), at: event.timestamp };
}

function toSums({ answer }: Proof): Sums {
  const read = (pico: string) => BigInt(pico || "0");
  return {
    granted: read(answer.grantedPicoUsd),
    balance: read(answer.balancePicoUsd),
    spent: read(answer.spentPicoUsd),
    refunded: read(answer.refundedPicoUsd),
    expired: read(answer.expiredPicoUsd),
    debt: read(answer.debtPicoUsd),
  };
}

function Proving({ progress }: { readonly progress: Progress }) {
  return (
    <div class="notice proving">
      <p>
        {progress.done} of {progress.total} rules are proved{progress.rule === "" ? "" : `: ${progress.rule}`}
      </p>
      <Meter part={progress.done / progress.total} isLevel />
    </div>
  );
}

function Result({ proof }: { readonly proof: Proof }) {
  const { answer, at, tookMs } = proof;
  const what = `${countOf(answer.accounts, "account")} and ${countOf(answer.receipts, "receipt")} checked in ${formatTook(tookMs)}, ${at.toLocaleTimeString(undefined, { hourCycle: "h23" })}.${answer.asOf ? ` A standby was read, as of ${formatTime(toDate(answer.asOf))}.` : ""}`;
  return answer.ok ? (
    <p class="notice good">
      <span>
        <strong>The books hold.</strong> {what}
      </span>
    </p>
  ) : (
    <p class="notice bad">
      <span>
        <strong>The books do not hold: {formatCount(answer.findings.length)} found.</strong>{" "}
        {answer.findings[0]?.message} {what}
      </span>
    </p>
  );
}

function formatTook(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : formatSpan(ms);
}
