import { signal } from "@preact/signals";
import { asOfHeader } from "../../lib/rpc/call-headers.ts";

/** An answer of a standby. */
interface Aged {
  /** The page that asked. */
  readonly path: string;
  readonly at: Date;
}

const last = signal<Aged | undefined>(undefined);

/** Takes note of the age that an answer tells. */
export function noteAge(header: Headers): void {
  const asOf = header.get(asOfHeader);
  if (asOf !== null) {
    last.value = { path: location.pathname, at: new Date(asOf) };
  }
}

/** The moment that the last answer of a standby to this page is of. Undefined: no standby told what it shows. */
export function readAge(): Date | undefined {
  return last.value?.path === location.pathname ? last.value.at : undefined;
}
