// Times are microseconds of the server's own clock, so that all cores agree.

const countRequestFunction = `
local function countRequest(key, limit, count, now)
  local span = 60000000
  local newest = tonumber(redis.call('LINDEX', key, 0) or now)
  if newest > now then -- the clock went back: the requests keep their distances
    local times = redis.call('LRANGE', key, 0, -1)
    redis.call('DEL', key)
    for _, time in ipairs(times) do
      redis.call('RPUSH', key, string.format('%.0f', time - (newest - now)))
    end
    redis.call('PEXPIRE', key, span / 1000)
    newest = now
  end

  local oldest = redis.call('LINDEX', key, -1)
  while oldest and now - oldest >= span do
    redis.call('RPOP', key)
    oldest = redis.call('LINDEX', key, -1)
  end

  local used, admitted = redis.call('LLEN', key), 0
  if count and used < limit then
    redis.call('LPUSH', key, string.format('%.0f', now))
    redis.call('PEXPIRE', key, span / 1000)
    used, admitted, newest = used + 1, 1, now
  end
  local wait = 0
  if used >= limit then wait = redis.call('LINDEX', key, limit - 1) + span - now end
  return {admitted, used, wait, used > 0 and newest + span - now or 0}
end
`;

/**
 * Counts one request (ARGV[2] = "1") of the key KEYS[1] with the limit ARGV[1], or only reads (ARGV[2] = "0"). The list
 * holds the times of the requests admitted within the last minute, newest first. Returns [admitted, used, wait, reset],
 * the last two in microseconds.
 */
export const countRequestScript = `
${countRequestFunction}
local clock = redis.call('TIME')
return countRequest(KEYS[1], tonumber(ARGV[1]), ARGV[2] == '1', clock[1] * 1000000 + clock[2])
`;

/**
 * Notes in the sorted set KEYS[1] that the core ARGV[1] is alive. Returns how many cores were within the last ARGV[2]
 * microseconds.
 */
export const countCoresScript = `
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
return redis.call('ZCARD', KEYS[1])
`;

/** A core that has not told for this long what runs on it is gone, and everything it held is free. */
export const heldLifetimeMs = 15_000;

// A quota is a hash. ":core" holds what runs on that core, as "amount time". A number holds what was counted in that
// second, as "amount time" with the time of the last count.
const quotaFunctions = `
local function readAmount(value)
  local amount, time = string.match(value, '^(%d+) (%d+)$')
  return tonumber(amount or 0), tonumber(time or 0)
end

local function write(key, name, amount, now)
  redis.call('HSET', key, name, string.format('%.0f %.0f', amount, now))
  redis.call('PEXPIRE', key, 76000)
end

local function count(key, amount, now)
  local second = string.format('%.0f', math.floor(now / 1000000))
  local counted = readAmount(redis.call('HGET', key, second) or '')
  write(key, second, counted + amount, now)
end

local function hold(key, core, amount, now)
  if amount > 0 then
    write(key, ':' .. core, amount, now)
  else
    redis.call('HDEL', key, ':' .. core)
  end
end
`;

/**
 * Counts a request as countRequestScript does, with the key KEYS[1] and the limit ARGV[1], and takes a part of each
 * quota KEYS[2…] for the core ARGV[2]. Limit and amount of each quota follow in ARGV. All or nothing. Returns
 * [admitted, used, wait, reset, full, then used, wait, reset of each quota]. full: the first quota without room, from
 * 1, or 0.
 */
export const beginRunScript = `
${countRequestFunction}
${quotaFunctions}
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local second, core = math.floor(now / 1000000), ARGV[2]
local full, states = 0, {}
for i = 2, #KEYS do
  local key, limit, amount = KEYS[i], tonumber(ARGV[2 * i - 1]), tonumber(ARGV[2 * i])
  local held, counted, seconds, mine = 0, 0, {}, 0
  local fields = redis.call('HGETALL', key)
  for f = 1, #fields, 2 do
    local name, value = fields[f], fields[f + 1]
    local at = tonumber(name)
    local taken, time = readAmount(value)
    if not at then
      if math.abs(now - time) < ${heldLifetimeMs} * 1000 then
        held = held + taken
        if name == ':' .. core then mine = taken end
      else
        redis.call('HDEL', key, name)
      end
    elseif time + 60000000 <= now then
      redis.call('HDEL', key, name)
    else
      if at > second then -- the clock went back
        redis.call('HDEL', key, name)
        count(key, taken, now)
        time = now
      end
      counted = counted + taken
      table.insert(seconds, {time, taken})
    end
  end
  table.sort(seconds, function(a, b) return a[1] < b[1] end)
  local used, wait, reset = held + counted, 0, 0
  if held > 0 then
    reset = 60000000
  elseif #seconds > 0 then
    reset = seconds[#seconds][1] + 60000000 - now
  end
  local left = used
  local function fits() return left == 0 or left + amount <= limit end
  if not fits() then
    wait = 1000000
    for _, one in ipairs(seconds) do
      left = left - one[2]
      if fits() then
        wait = math.max(wait, one[1] + 60000000 - now)
        break
      end
    end
    if full == 0 then full = i - 1 end
  end
  states[i - 1] = {key, amount, mine, used, wait, reset}
end

local window
if full == 0 then
  window = countRequest(KEYS[1], tonumber(ARGV[1]), true, now)
else
  window = countRequest(KEYS[1], tonumber(ARGV[1]), false, now)
end
local answer = {window[1], window[2], window[3], window[4], full}
for _, state in ipairs(states) do
  local key, amount, mine, used, wait, reset = unpack(state)
  if window[1] == 1 then
    hold(key, core, mine + amount, now)
    used, reset = used + amount, 60000000
  end
  table.insert(answer, used)
  table.insert(answer, wait)
  table.insert(answer, reset)
end
return answer
`;

/**
 * Gives back for the core ARGV[1] what ended of each quota of KEYS. The amount of each and what stays counted follow in
 * ARGV.
 */
export const endRunsScript = `
${quotaFunctions}
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local core = ARGV[1]
for i, key in ipairs(KEYS) do
  local amount, counted = tonumber(ARGV[2 * i]), ARGV[2 * i + 1]
  local held = readAmount(redis.call('HGET', key, ':' .. core) or '')
  hold(key, core, held - amount, now)
  if tonumber(counted) > 0 then
    count(key, tonumber(counted), now)
  end
end
return #KEYS
`;

/**
 * Notes that the core ARGV[1] is alive, and what it holds of each quota of KEYS. The amount of each follows in ARGV,
 * and how much more its beginning runs may have taken. Whatever the server has beyond both comes from ends and refusals
 * that were lost on the way; it is removed even from a quota that is always busy.
 */
export const renewHeldScript = `
${quotaFunctions}
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local core = ARGV[1]
for i, key in ipairs(KEYS) do
  local amount, beginning = tonumber(ARGV[2 * i]), tonumber(ARGV[2 * i + 1])
  local known = readAmount(redis.call('HGET', key, ':' .. core) or '')
  hold(key, core, math.min(math.max(known, amount), amount + beginning), now)
end
return #KEYS
`;
