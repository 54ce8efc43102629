/** The servers that an address names, `postgresql://user@a:5432,b:5432/db`: an address for each. */
export function serversOf(url: string): readonly [string, ...string[]] {
  if (!url.startsWith("postgres")) {
    return [url];
  }
  const start = url.indexOf("://") + 3;
  const length = url.slice(start).search(/[/?#]/);
  const end = length < 0 ? url.length : start + length;
  const hosts = Math.max(start, url.lastIndexOf("@", end) + 1);
  const [first = "", ...others] = url.slice(hosts, end).split(",");
  const addressOf = (server: string) => `${url.slice(0, hosts)}${server}${url.slice(end)}`;
  return [addressOf(first), ...others.map(addressOf)];
}
