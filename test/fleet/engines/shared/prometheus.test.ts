import { expect, test } from "@jest/globals";
import { metricSum } from "#src/fleet/engines/shared/prometheus.ts";

const text = `# HELP vllm:num_requests_running Number of requests
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="m"} 3.0
vllm:num_requests_running{engine="1",model_name="a } b"} 2 1790000000
vllm:num_requests_running_total 9
te_queue_size 4
bad NaN
`;

test.each([
  ["vllm:num_requests_running", 5],
  ["te_queue_size", 4],
  ["vllm:num_requests", undefined],
  ["bad", undefined],
  ["missing", undefined],
])("%s is %p", (name, value) => {
  expect(metricSum(text, name)).toBe(value);
});
