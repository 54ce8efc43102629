import { catalogue } from "../../contract/clients.ts";
import { useQuery } from "../calls/use-query.ts";

interface Props {
  /** Model.id of each. Empty: all models. */
  readonly chosen: readonly string[];
  readonly onChange: (models: readonly string[]) => void;
}

/** The models that a key may use. None chosen means all. */
export function ModelsField({ chosen, onChange }: Props) {
  const { data: served = [] } = useQuery(
    async (signal) => (await catalogue.listModels({ pageSize: 1000 }, { signal })).models.map(({ id }) => id),
    [],
  );
  const ids = [...new Set([...served, ...chosen])];
  const toggle = (id: string) => () =>
    onChange(chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id]);
  return (
    <fieldset class="field options">
      <legend class="field-label">
        Models <span class="muted">{chosen.length === 0 ? "· all that are served" : `· only these`}</span>
      </legend>
      <div class="options-list">
        {ids.map((id) => (
          <label key={id} class="check">
            <input type="checkbox" checked={chosen.includes(id)} onChange={toggle(id)} />
            {id}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
