import { useState } from "preact/hooks";
import { CopyButton } from "../../../parts/figures/copy.tsx";
import { Section } from "../../../parts/frame/page.tsx";
import type { Choice } from "../../../parts/requests/surfaces.ts";
import { toExamples } from "./examples.ts";

/** Shows the same request as code. */
export function Examples({ choice, publicUrl }: { readonly choice: Choice; readonly publicUrl: string }) {
  const examples = toExamples(choice, publicUrl);
  const [shown, setShown] = useState("curl");
  const example = examples.find(({ name }) => name === shown);
  return (
    <Section
      title="The same from a program"
      actions={
        <>
          <fieldset class="choices">
            <legend class="visually-hidden">Written as</legend>
            {examples.map(({ name }) => (
              <label key={name} class={name === shown ? "chosen" : undefined}>
                <input type="radio" name="example" checked={name === shown} onChange={() => setShown(name)} />
                {name}
              </label>
            ))}
          </fieldset>
          {example && <CopyButton text={example.text} what={example.name} />}
        </>
      }
    >
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard. */}
      <pre class="code-block" tabIndex={0}>
        {example?.text}
      </pre>
    </Section>
  );
}
