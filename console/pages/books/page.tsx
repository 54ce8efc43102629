import { useState } from "preact/hooks";
import type { ReconcileResponse } from "#gen/tollgate/metering/v1/books_service_pb.js";
import { books } from "../../contract/clients.ts";
import { countOf, formatCount } from "../../format/numbers.ts";
import { formatSpan } from "../../format/time.ts";
import { Failure } from "../../parts/answer.tsx";
import { Page } from "../../parts/page.tsx";
import { DeadLetters } from "./dead-letters.tsx";
import { Equation } from "./equation.tsx";
import { Findings } from "./findings.tsx";

interface Proof {
  readonly answer: ReconcileResponse;
  readonly at: Date;
  readonly tookMs: number;
}

/** That every pico-dollar is where it should be, proven while one watches. */
export default function BooksPage() {
  const [proof, setProof] = useState<Proof | undefined>(undefined);
  const [isProving, setProving] = useState(false);
  const [error, setError] = useState<unknown>(undefined);
  const prove = async (): Promise<void> => {
    if (isProving) {
      return;
    }
    setProving(true);
    setError(undefined);
    const begun = performance.now();
    try {
      const answer = await books.reconcile({});
      setProof({ answer, at: new Date(), tookMs: performance.now() - begun });
    } catch (failure) {
      setError(failure);
    } finally {
      setProving(false);
    }
  };
  return (
    <Page
      title="Books"
      lead="What came in equals what is there, what was spent, what went back and what lapsed, less what is owed: for each account and in all."
      actions={
        <button type="button" class="primary" aria-busy={isProving} onClick={() => void prove()}>
          Prove now
        </button>
      }
    >
      <div role="status">
        {isProving && <p class="notice">Every row is being added up…</p>}
        {!isProving && proof && <Result proof={proof} />}
      </div>
      {error !== undefined && <Failure error={error} retry={() => void prove()} />}
      <Equation answer={proof?.answer} />
      {proof && <Findings findings={proof.answer.findings} />}
      <DeadLetters />
    </Page>
  );
}

function Result({ proof }: { readonly proof: Proof }) {
  const { answer, at, tookMs } = proof;
  const what = `${countOf(answer.accounts, "account")} and ${countOf(answer.receipts, "receipt")} checked in ${formatTook(tookMs)}, ${at.toLocaleTimeString(undefined, { hourCycle: "h23" })}.`;
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
