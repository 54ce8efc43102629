import { useState } from "preact/hooks";
import type { ApiKey } from "#gen/tollgate/accounts/v1/api_key_pb.js";
import { mayChangeKeys } from "../../app/session.ts";
import { Clip } from "../figures/clip.tsx";
import { Table } from "../figures/table.tsx";
import { Time } from "../figures/time.tsx";
import { EditKey } from "./edit-key.tsx";
import { KeyLimits } from "./key-limits.tsx";
import { isOver, KeyState } from "./key-state.tsx";
import { RevokeKey } from "./revoke-key.tsx";
import { RotateKey } from "./rotate-key.tsx";

interface Props {
  readonly rows: readonly ApiKey[];
  readonly onChanged: () => void;
  /** The names of their accounts by id, where they are of several. Empty: it has none. */
  readonly accounts?: ReadonlyMap<string, string>;
}

interface Open {
  readonly action: "edit" | "rotate" | "revoke";
  readonly key: ApiKey;
}

/** The keys with their limits and how much of them is used. */
export function KeyTable({ rows, onChanged, accounts }: Props) {
  const [open, setOpen] = useState<Open | undefined>(undefined);
  const close = () => setOpen(undefined);
  const done = () => {
    close();
    onChanged();
  };
  const limits = { name: "Limits", isOptional: true, show: (key: ApiKey) => <KeyLimits apiKey={key} /> };
  const actions = {
    name: "Actions",
    isNameHidden: true,
    isNumber: true,
    show: (key: ApiKey) => !isOver(key) && <KeyActions apiKey={key} onOpen={(action) => setOpen({ action, key })} />,
  };
  return (
    <>
      <Table
        caption="Keys"
        rows={rows}
        keyOf={(key) => key.id}
        isDimmed={isOver}
        columns={[
          {
            name: "Name",
            isHeader: true,
            show: (key) => (
              <div class="two-lines">
                <Name text={key.name} />
                {accounts && <AccountLink id={key.accountId} name={accounts.get(key.accountId) ?? ""} />}
              </div>
            ),
          },
          { name: "Key", show: (key) => <code>{`${key.prefix}…${key.last4}`}</code> },
          { name: "State", show: (key) => <KeyState apiKey={key} /> },
          limits,
          { name: "Last used", isNumber: true, isOptional: true, show: (key) => <LastUsed apiKey={key} /> },
          ...(mayChangeKeys.value ? [actions] : []),
        ]}
      />
      {open?.action === "edit" && <EditKey apiKey={open.key} onClose={close} onDone={done} />}
      {open?.action === "rotate" && <RotateKey apiKey={open.key} onClose={close} onCreated={onChanged} />}
      {open?.action === "revoke" && <RevokeKey apiKey={open.key} onClose={close} onDone={done} />}
    </>
  );
}

function Name({ text }: { readonly text: string }) {
  return text === "" ? <span class="muted">no name</span> : <Clip text={text} isShort />;
}

/** The account of a key leads to all of its keys. */
function AccountLink({ id, name }: { readonly id: string; readonly name: string }) {
  return (
    <a class="small" href={`/keys?account=${id}`}>
      <Clip text={name || id} isShort />
    </a>
  );
}

function LastUsed({ apiKey }: { readonly apiKey: ApiKey }) {
  return apiKey.lastUsedAt === undefined ? (
    <span class="muted">never</span>
  ) : (
    <Time at={apiKey.lastUsedAt} isRelative />
  );
}

function KeyActions({
  apiKey,
  onOpen,
}: {
  readonly apiKey: ApiKey;
  readonly onOpen: (action: Open["action"]) => void;
}) {
  const name = apiKey.name || apiKey.last4;
  const verbs = [
    { action: "edit", verb: "Limits" },
    { action: "rotate", verb: "Rotate" },
    { action: "revoke", verb: "Revoke" },
  ] as const;
  return (
    <div class="actions">
      {verbs.map(({ action, verb }) => (
        <button
          key={action}
          type="button"
          class="small-button"
          aria-label={`${verb} ${name}`}
          onClick={() => onOpen(action)}
        >
          {verb}
        </button>
      ))}
    </div>
  );
}
