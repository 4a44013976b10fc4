import { openSync, writeSync } from 'node:fs';

// Programs that the tests start must not report here, and see the options that they would see without us.
const options = (process.env.NODE_OPTIONS ?? '').split(' ').filter((word) => !word.startsWith('--test-reporter'));
if (options.some((word) => word)) process.env.NODE_OPTIONS = options.join(' ');
else delete process.env.NODE_OPTIONS;

let file;
try {
  file = openSync(`${FOLDER}/node-${process.pid}-${process.hrtime.bigint()}.jsonl`, 'wx');
} catch {}
const write = (record) => file !== undefined && writeSync(file, JSON.stringify(record) + '\n');

export default async function* (events) {
  write({ type: 'begin', folder: process.cwd() });
  for await (const { type, data } of events) {
    if (!/^test:(enqueue|start|pass|fail)$/.test(type)) continue;
    const { name, nesting, file, details, skip, todo } = data;
    write({
      type, name, nesting, file, kind: details?.type, failure: details?.error?.failureType,
      skip: skip !== undefined, todo: todo !== undefined,
    });
  }
  write({ type: 'end' });
}
