import { useEffect, useState } from "preact/hooks";

const thanksMs = 2000;

/** A button that copies a text to the clipboard and says so. */
export function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
  const [said, setSaid] = useState("");
  useEffect(() => {
    if (said !== "") {
      const timer = setTimeout(() => setSaid(""), thanksMs);
      return () => clearTimeout(timer);
    }
    return undefined;
  }, [said]);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid("Copied");
    } catch {
      // Browsers deny the clipboard to pages on plain HTTP, and may ask for permission elsewhere.
      setSaid("Select it to copy");
    }
  };
  return (
    <button type="button" class="small-button" onClick={() => void copy()} aria-label={`Copy ${what}`}>
      <span aria-live="polite">{said || "Copy"}</span>
    </button>
  );
}

/** A text that is meant to be copied: an id, a secret, a command. */
export function Copyable({ text, what }: { readonly text: string; readonly what: string }) {
  return (
    <div class="copyable">
      <code class="wrap-anywhere" dir="auto">
        {text}
      </code>
      <CopyButton text={text} what={what} />
    </div>
  );
}

/** A long id in a table. Its end is cut where there is no room; the title has all of it. */
export function Id({ id }: { readonly id: string }) {
  return (
    <code class="id" title={id}>
      {id}
    </code>
  );
}
