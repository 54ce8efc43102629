import { find } from "../../contract/clients.ts";
import { isId } from "../../format/ids.ts";
import { loadKeyNames } from "../keys/key-names.ts";
import { IdField, type Suggested } from "./id-field.tsx";

interface Props {
  readonly label: string;
  /** ApiKey.id. */
  readonly value: string;
  readonly onInput: (keyId: string) => void;
}

const suggested = 20;

/** A field for a key's id. It suggests keys by what people know of them. */
export function KeyField(props: Props) {
  return (
    <IdField
      {...props}
      name="key"
      suggest={suggest}
      hint="The key's id; type its name or last four characters to find it."
    />
  );
}

/** The key of a typed id, or the keys that are called like the text. */
async function suggest(typed: string, signal: AbortSignal): Promise<readonly Suggested[]> {
  if (isId(typed)) {
    return [...(await loadKeyNames([typed], signal))].map(([id, name]) => ({ id, name }));
  }
  if (typed === "") {
    return [];
  }
  const { found } = await find.findAnything({ text: typed, pageSize: suggested }, { signal });
  return found
    .filter(({ kind }) => kind === "key")
    .map(({ id, name, mark }) => ({ id, name: `${name} ${mark}`.trim() }));
}
