import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import type { Found } from "#gen/tollgate/find/v1/find_service_pb.js";
import { find } from "../../contract/clients.ts";
import { Answer } from "../../parts/calls/answer.tsx";
import { useQuery } from "../../parts/calls/use-query.ts";
import { Clip } from "../../parts/figures/clip.tsx";
import { Dialog } from "../../parts/forms/dialog.tsx";
import { Field } from "../../parts/forms/field.tsx";
import { navigate } from "../router.ts";
import { shownEntries } from "../shell/navigation.tsx";
import { pageOfFound } from "./found-pages.ts";

const isOpen = signal(false);

/** Opens the finder with Ctrl-K, and on a Mac with ⌘K. Returns the function that ends it. */
function listen(): () => void {
  const onKey = (event: KeyboardEvent) => {
    if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      isOpen.value = true;
    }
  };
  addEventListener("keydown", onKey);
  return () => removeEventListener("keydown", onKey);
}

/** The way to anything: a button that looks like a field, and a dialog that finds. */
export function Finder() {
  useEffect(listen, []);
  return (
    <>
      <button
        type="button"
        class="finder-button"
        aria-keyshortcuts="Control+K"
        onClick={() => {
          isOpen.value = true;
        }}
      >
        Find… <kbd>Ctrl K</kbd>
      </button>
      {isOpen.value && <FinderDialog />}
    </>
  );
}

interface Way {
  readonly to: string;
  readonly name: string;
  /** What else it is known by. Of a key: what is seen of its secret. */
  readonly mark?: string;
  readonly kind: string;
}

function FinderDialog() {
  const [text, setText] = useState("");
  const wanted = text.trim();
  const found = useQuery((signal) => search(wanted, signal), [wanted]);
  const close = () => {
    isOpen.value = false;
  };
  // Who presses Enter before the answer is there means what was typed, and nothing that was found before.
  const goToFirst = async (): Promise<void> => {
    const ways = found.data ?? (await search(wanted, new AbortController().signal));
    const [way] = [...ways, ...pages(wanted)];
    if (way !== undefined) {
      navigate(way.to);
    }
  };
  return (
    <Dialog title="Find anything" onClose={close}>
      <form
        class="finder"
        onSubmit={(event) => {
          event.preventDefault();
          goToFirst().catch(() => undefined); // the list says why
        }}
      >
        <Field
          label="Request id, account, key, payment, model, server or page"
          name="find"
          value={text}
          onInput={setText}
          hasFocus
          hint="Of a key, its last four characters are enough. Enter opens the first."
        />
        <Answer query={found}>{(ways) => <Ways ways={[...ways, ...pages(wanted)]} />}</Answer>
        <div class="actions">
          <button type="button" onClick={close}>
            Close
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function Ways({ ways }: { readonly ways: readonly Way[] }) {
  return (
    <>
      <ul class="finder-list" aria-label="Found">
        {ways.map((way) => (
          <li key={`${way.kind} ${way.to} ${way.name}`}>
            <a href={way.to}>
              <span class="small muted">{way.kind}</span> <Clip text={way.name} /> {way.mark}
            </a>
          </li>
        ))}
      </ul>
      <p role="status" class="small muted">
        {ways.length === 0 && "Nothing is called that."}
      </p>
    </>
  );
}

async function search(text: string, signal: AbortSignal): Promise<readonly Way[]> {
  if (text.length < 2) {
    return [];
  }
  const { found } = await find.findAnything({ text, pageSize: 8 }, { signal });
  return found.map((one: Found) => ({
    to: pageOfFound(one),
    name: one.name || one.id,
    mark: one.mark,
    kind: one.kind,
  }));
}

function pages(text: string): readonly Way[] {
  const entries = shownEntries().filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()));
  return entries.map(({ name, path: to }) => ({ to, name, kind: "page" }));
}
