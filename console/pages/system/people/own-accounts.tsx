import { navigate } from "../../../app/router.ts";
import { session, switchAccount } from "../../../app/session.ts";
import { people } from "../../../contract/clients.ts";
import { Answer } from "../../../parts/calls/answer.tsx";
import { useQuery } from "../../../parts/calls/use-query.ts";
import { Clip } from "../../../parts/figures/clip.tsx";
import { Table } from "../../../parts/figures/table.tsx";
import { ActionButton } from "../../../parts/forms/action-button.tsx";
import { Section } from "../../../parts/frame/page.tsx";
import { roleNames } from "../../../parts/people/roles.ts";

/** The other accounts of the person. Nothing where there is one alone. */
export function OwnAccounts() {
  const query = useQuery(async (signal) => (await people.listAccounts({}, { signal })).accounts, []);
  const open = async (accountId: string): Promise<void> => {
    await switchAccount(accountId);
    navigate("/overview");
  };
  if (query.data === undefined || query.data.length < 2) {
    return null;
  }
  return (
    <Section title="Your accounts">
      <Answer query={query}>
        {(rows) => (
          <Table
            caption="Your accounts"
            rows={rows}
            keyOf={(place) => place.accountId}
            columns={[
              { name: "Name", isHeader: true, show: ({ name, accountId }) => <Clip text={name || accountId} /> },
              { name: "Role", show: ({ role }) => roleNames[role] },
              {
                name: "Actions",
                isNameHidden: true,
                isNumber: true,
                show: ({ accountId }) =>
                  accountId === session.value?.accountId ? (
                    "open"
                  ) : (
                    <ActionButton isSmall act={() => open(accountId)}>
                      Open
                    </ActionButton>
                  ),
              },
            ]}
          />
        )}
      </Answer>
    </Section>
  );
}
