import type { ApiKey } from "#gen/tollgate/accounts/v1/api_key_pb.js";
import { Name } from "../figures/name.tsx";

/** A key as people know it: by its name, or by its last characters. */
export function KeyName({ apiKey: { name, last4 } }: { readonly apiKey: ApiKey }) {
  return <Name text={name || `…${last4}`} />;
}
