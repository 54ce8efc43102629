import { accounts } from "../../contract/clients.ts";
import { Answer, Empty } from "../calls/answer.tsx";
import { useQuery } from "../calls/use-query.ts";
import { Clip } from "../figures/clip.tsx";

const shown = 12;

/** A choice of accounts whose keys to show: the first ones, and a link to all. */
export function AccountChoice() {
  const query = useQuery(async (signal) => {
    const request = { pageSize: shown, withoutMoney: true };
    return (await accounts.listAccounts(request, { signal })).accounts;
  }, []);
  return (
    <Answer query={query}>
      {(found) =>
        found.length === 0 ? (
          <Empty title="There is no account yet">
            <a href="/accounts">Create one</a>, then its keys.
          </Empty>
        ) : (
          <Empty title="Whose keys?">
            <ul class="tags centred">
              {found.map(({ id, name }) => (
                <li key={id}>
                  <a href={`/keys?account=${id}`}>
                    <Clip text={name || id} />
                  </a>
                </li>
              ))}
              {found.length === shown && (
                <li>
                  <a href="/accounts">All accounts</a>
                </li>
              )}
            </ul>
          </Empty>
        )
      }
    </Answer>
  );
}
