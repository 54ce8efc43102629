import { useState } from "preact/hooks";
import { type Model, ModelKind } from "#gen/tollgate/catalogue/v1/model_pb.js";
import { formatRate } from "../../../../lib/money/money.ts";
import { say } from "../../../app/said.tsx";
import { prices } from "../../../contract/clients.ts";
import { ActionForm } from "../../../parts/forms/action-form.tsx";
import { Dialog } from "../../../parts/forms/dialog.tsx";
import { Field } from "../../../parts/forms/field.tsx";
import { rateForm, readRate } from "../../../parts/forms/typed.ts";
import { isLargeChange, Preview } from "./preview.tsx";

interface Props {
  readonly model: Model;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Sets a price after a preview of its effect. A large change needs a second confirmation. */
export function SetPrice({ model, onClose, onDone }: Props) {
  const isEmbedding = model.kind === ModelKind.EMBEDDING;
  const [input, setInput] = useState(formatRate(model.inputPicoUsdPerToken));
  const [output, setOutput] = useState(formatRate(model.outputPicoUsdPerToken));
  const [isConfirming, setConfirming] = useState(false);
  const change = (set: (text: string) => void) => (text: string) => {
    set(text);
    setConfirming(false);
  };
  const next = { input: readRate(input), output: isEmbedding ? 0n : readRate(output) };
  const send = async (): Promise<void> => {
    if (next.input === undefined || next.output === undefined) {
      throw new Error(`A price has to be ${rateForm}.`);
    }
    if (!isConfirming && isLargeChange(model, next.input, next.output)) {
      setConfirming(true);
      return;
    }
    await prices.setPrice({
      model: model.id,
      inputPicoUsdPerToken: next.input,
      outputPicoUsdPerToken: next.output,
    });
    onDone();
    say("The price is set.");
  };
  return (
    <Dialog title="Set price" onClose={onClose}>
      <ActionForm verb={isConfirming ? "Confirm" : "Apply"} send={send} onCancel={onClose} isGrave={isConfirming}>
        <p class="muted">USD per 1M tokens: the new base, and the live price from now on.</p>
        <div class="fields">
          <Field label="Input" name="input" value={input} onInput={change(setInput)} unit="$" isNumber hasFocus />
          {!isEmbedding && (
            <Field label="Output" name="output" value={output} onInput={change(setOutput)} unit="$" isNumber />
          )}
        </div>
        <Preview model={model} input={next.input} output={next.output} />
        {isConfirming && (
          <p class="notice warn" role="alert">
            This more than doubles or halves the price. Confirm that it is meant.
          </p>
        )}
      </ActionForm>
    </Dialog>
  );
}
