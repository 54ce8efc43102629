import { CopyButton } from "./copy.tsx";

/** A name that somebody chose. Its writing direction changes the order of nothing around it. */
export function Name({ text }: { readonly text: string }) {
  return <bdi>{text}</bdi>;
}

interface Props {
  readonly id: string;
  /** Empty: it has none, or it is not known. The id stands in its place. */
  readonly name: string;
  /** What has the name, such as "key". */
  readonly what: string;
  /** Its page. Undefined: it has none for the reader. */
  readonly path?: string | undefined;
}

/** Something that has an id: its name, and a button that copies the id. */
export function Named({ id, name, what, path }: Props) {
  const shown = name === "" ? <code>{id}</code> : <Name text={name} />;
  return (
    <span class="with-copy">
      {path === undefined ? shown : <a href={path}>{shown}</a>}
      <CopyButton text={id} what={`the ${what}'s id`} />
    </span>
  );
}
