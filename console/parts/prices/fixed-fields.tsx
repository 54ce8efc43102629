import type { AccountPrice } from "#gen/tollgate/accounts/v1/own_prices_pb.js";
import { formatRate } from "../../../lib/money/money.ts";
import { Field, Select } from "../forms/field.tsx";
import type { FixedTexts } from "./terms.ts";

interface Props {
  readonly fixed: readonly FixedTexts[];
  /** The served models, with what they cost now. */
  readonly prices: readonly AccountPrice[];
  readonly onChange: (fixed: readonly FixedTexts[]) => void;
}

/** The fixed prices of chosen models. A chosen model begins at its general price. */
export function FixedFields({ fixed, prices, onChange }: Props) {
  const taken = new Set(fixed.map(({ model }) => model));
  const free = prices.filter(({ model }) => !taken.has(model));
  const change = (model: string, to: Partial<FixedTexts>) =>
    onChange(fixed.map((one) => (one.model === model ? { ...one, ...to } : one)));
  const add = (model: string) =>
    onChange([...fixed, ...free.filter((price) => price.model === model).map(startAtGeneral)]);
  return (
    <>
      {fixed.map(({ model, input, output }) => (
        <fieldset key={model} class="field options">
          <legend class="field-label wrap-anywhere">Fixed price of {model}</legend>
          <div class="fields">
            <Field
              label="Input"
              name="input"
              value={input}
              onInput={(text) => change(model, { input: text })}
              unit="$"
              isNumber
            />
            <Field
              label="Output"
              name="output"
              value={output}
              onInput={(text) => change(model, { output: text })}
              unit="$"
              isNumber
            />
          </div>
          <div class="form-foot">
            <button
              type="button"
              class="small-button"
              aria-label={`Remove the fixed price of ${model}`}
              onClick={() => onChange(fixed.filter((one) => one.model !== model))}
            >
              Remove
            </button>
          </div>
        </fieldset>
      ))}
      {free.length > 0 && (
        <Select
          label="Fix the price of"
          name="fixed"
          value=""
          options={[{ value: "", text: "choose a model" }, ...free.map(({ model }) => ({ value: model, text: model }))]}
          onChange={add}
          hint="USD per 1M tokens. The discount is not taken off a fixed price."
        />
      )}
    </>
  );
}

function startAtGeneral({
  model,
  generalInputPicoUsdPerToken,
  generalOutputPicoUsdPerToken,
}: AccountPrice): FixedTexts {
  return {
    model,
    input: formatRate(generalInputPicoUsdPerToken),
    output: formatRate(generalOutputPicoUsdPerToken),
  };
}
