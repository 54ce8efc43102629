import { useEffect, useState } from "preact/hooks";

const thanksMs = 2000;

/** Puts a text on the clipboard and says so. */
export function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (isCopied) {
      const timer = setTimeout(() => setCopied(false), thanksMs);
      return () => clearTimeout(timer);
    }
    return undefined;
  }, [isCopied]);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  };
  return (
    <button type="button" class="small-button" onClick={() => void copy()} aria-label={`Copy ${what}`}>
      <span aria-live="polite">{isCopied ? "Copied" : "Copy"}</span>
    </button>
  );
}

/** A text that is made to be copied: an id, a secret, a command. */
export function Copyable({ text, what }: { readonly text: string; readonly what: string }) {
  return (
    <div class="copyable">
      <code class="wrap-anywhere">{text}</code>
      <CopyButton text={text} what={what} />
    </div>
  );
}

/** A long id in a table: its end is cut where there is no room; whole in its title. */
export function Id({ id }: { readonly id: string }) {
  return (
    <code class="id" title={id}>
      {id}
    </code>
  );
}
