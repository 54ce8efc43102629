import { settings } from "../../contract/clients.ts";
import { useQuery } from "../calls/use-query.ts";

interface Props {
  /** What the sentence is about, such as "The model". */
  readonly what: string;
  /** How the names of the settings begin, such as "models". */
  readonly list: string;
  /** The value that one of them has: the model's id, or the server's address. Empty: the list alone is looked for. */
  readonly value?: string;
}

/** Says where the values of the configuration stand that the console does not change. Silent where that is not known. */
export function Source({ what, list, value = "" }: Props) {
  const { data } = useQuery(async (signal) => (await settings.getSettings({}, { signal })).settings, []);
  const found = data?.find(
    (setting) =>
      setting.name.startsWith(list) && setting.origin !== "default" && (value === "" || setting.value === value),
  );
  if (data === undefined) {
    return null;
  }
  return (
    <p class="muted small below-note">
      {found === undefined ? (
        <>
          {what} was found at the start: no file has it. <code>tollgate init --server URL</code> writes one.
        </>
      ) : (
        <>
          {what} is set in <code class="wrap-anywhere">{found.origin}</code>. Change it there, then{" "}
          <code>tollgate reload</code>.
        </>
      )}
    </p>
  );
}
