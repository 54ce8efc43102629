// Times are microseconds of the server's own clock, so that all cores agree.

/**
 * Counts one request (ARGV[2] = "1") of the key KEYS[1] with the limit ARGV[1], or only tells (ARGV[2] = "0").
 * The list holds the times of the requests admitted within the last minute, newest first.
 * Answers [admitted, used, wait, reset], the last two in microseconds.
 */
export const countRequestScript = `
local key, limit, count, span = KEYS[1], tonumber(ARGV[1]), ARGV[2] == '1', 60000000
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]

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
`;

/** Notes in the sorted set KEYS[1] that the core ARGV[1] lives, and answers how many cores did within ARGV[2] microseconds. */
export const countCoresScript = `
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
return redis.call('ZCARD', KEYS[1])
`;
