import { ReceiptStatus } from "#gen/tollgate/metering/v1/usage_pb.js";
import { Badge, type Tone } from "../figures/badge.tsx";

interface Words {
  readonly short: string;
  /** A sentence about what happened and what was billed. */
  readonly long: string;
  readonly tone: Tone;
}

/** How a billed request ended, in words. */
export const statusWords: Readonly<Record<ReceiptStatus, Words>> = {
  [ReceiptStatus.UNSPECIFIED]: { short: "Unknown", long: "How it ended is not known.", tone: "plain" },
  [ReceiptStatus.COMPLETED]: { short: "Completed", long: "The answer was delivered whole.", tone: "good" },
  [ReceiptStatus.CANCELLED]: {
    short: "Cancelled",
    long: "The client went away; what the engine had counted until then was billed.",
    tone: "warn",
  },
  [ReceiptStatus.FAILED]: {
    short: "Failed",
    long: "The engine failed in the middle; what it had counted until then was billed.",
    tone: "bad",
  },
  [ReceiptStatus.RECOVERED]: {
    short: "Recovered",
    long: "The process that served it died; what it had written down until then was billed.",
    tone: "warn",
  },
};

export function ReceiptStatusBadge({ status }: { readonly status: ReceiptStatus }) {
  const { short, tone } = statusWords[status];
  return <Badge tone={tone}>{short}</Badge>;
}
