/** A JSON value. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json | undefined };

/** A task, with the fields of docs/json.md. Data is the type of its data, Result that of its result. */
export interface TaskFields<Data = any, Result = any> {
  id: string;
  action: string;
  state: string;
  data?: Data;
  result?: Result;
  priority: number;
  attempts: number;
  timeout: number;
  note?: string;
  tags?: string[];
  [field: string]: any;
}

/** Fields of the API for a new task. */
export interface TaskOptions {
  priority?: number;
  timeout?: number;
  max_attempts?: number;
  unique_key?: string;
  after?: string[];
  tags?: string[];
  [field: string]: any;
}

export interface NewTask<Data = any> extends TaskOptions {
  action: string;
  data?: Data;
  ref?: string;
}

/** How a task of after ended. */
export interface Parent<Result = any> {
  task: string;
  state: string;
  result?: Result;
  left_out?: boolean;
}

export class LeaseholdError extends Error {
  status: number;
  code: string;
  title: string;
  detail: string;
}
export class InvalidError extends LeaseholdError {}
export class NotFoundError extends LeaseholdError {}
export class ConflictError extends LeaseholdError {}
export class StaleClaimError extends ConflictError {}
export class UnauthenticatedError extends LeaseholdError {}
export class ForbiddenError extends LeaseholdError {}
export class KeyReusedError extends LeaseholdError {}
export class SessionClosedError extends LeaseholdError {}
export class TooLargeError extends LeaseholdError {}
export class UnavailableError extends LeaseholdError {
  /** false: the request did not reach it; undefined: it may have. */
  happened?: false;
}

export class TimeoutError extends Error {
  task: TaskFields;
}

/** Thrown by a handler: no worker could do the task, so it is dead at once. */
export class GiveUp extends Error {}

/** Thrown by a handler: not now. The attempt is not counted. */
export class HandBack extends Error {
  constructor(delay?: number);
  delay: number;
}

/** What selects tasks; a field that is missing selects all. Ages are in seconds. */
export interface Filter {
  state?: string;
  action?: string;
  tag?: string;
  group?: string;
  text?: string;
  data?: string;
  older?: number;
  younger?: number;
}

/** How many tasks a filter selected, and when. */
export interface TaskCount {
  count: number;
  at: string;
}

/** What became of the tasks that a filter selected: ids of those that were changed, and why others were not. */
export interface Changed {
  done: string[];
  refused: { task: string; code: string; detail: string }[];
}

/** The figures of an action, with the fields of docs/json.md. */
export interface ActionFields {
  action: string;
  paused: boolean;
  tasks: Record<string, number>;
  workers: number;
  slots: number;
  [field: string]: any;
}

/** What a person should look at, with the fields of docs/json.md. */
export interface AttentionItem {
  id: string;
  cause: string;
  severity: 'stops_work' | 'degrades' | 'to_know';
  text: string;
  since: string;
  count: number;
  command: string;
  [field: string]: any;
}

/** The counts of tasks by interval, with the fields of docs/json.md. */
export interface TaskHistory {
  span: string;
  step_s: number;
  points: { at: string; created: number; done: number; failed: number; dead: number; waiting: number }[];
  [field: string]: any;
}

export class Client {
  constructor(url?: string, options?: { token?: string; ca?: string });
  create<Data = any, Result = any>(action: string, data?: Data, options?: TaskOptions, key?: string): Promise<TaskFields<Data, Result>>;
  createAll<Data = any>(tasks: Iterable<NewTask<Data>>, key?: string): Promise<TaskFields<Data>[]>;
  get<Data = any, Result = any>(id: string): Promise<TaskFields<Data, Result>>;
  parents(id: string): Promise<Parent[]>;
  /** timeout is in seconds. */
  wait<Data = any, Result = any>(id: string, timeout?: number): Promise<TaskFields<Data, Result>>;
  cancel(id: string, reason?: string, key?: string): Promise<unknown>;
  requeue(id: string, key?: string): Promise<unknown>;
  actions(): Promise<ActionFields[]>;
  leases(): Promise<{ id: string; holder: string; subject: string; parts?: string[]; deadline: string; token: number }[]>;
  attention(): Promise<{ at: string; items: AttentionItem[] }>;
  history(action?: string, span?: 'hour' | 'day' | 'two-weeks'): Promise<TaskHistory>;
  count(filter?: Filter): Promise<TaskCount>;
  requeueSelected(seen: TaskCount, filter?: Filter): Promise<Changed>;
  discardSelected(seen: TaskCount, filter?: Filter): Promise<Changed>;
  cancelSelected(seen: TaskCount, filter?: Filter, reason?: string): Promise<Changed>;
  session(serves?: Record<string, number>, options?: { name?: string; ttl?: number }): Promise<Session>;
}

export class Session {
  readonly id: string;
  resume(): Promise<unknown>;
  heartbeat(options?: { wait?: number; signal?: AbortSignal }): Promise<{ claims: { task: string; token: number }[]; draining: boolean }>;
  claim<Data = any, Result = any>(options?: { actions?: string[]; limit?: number; wait?: number; signal?: AbortSignal }): Promise<Task<Data, Result>[]>;
  end(): Promise<void>;
}

export interface Task<Data = any, Result = any> extends TaskFields<Data, Result> {}
export class Task<Data = any, Result = any> {
  token: number;
  data: Data;
  parents?: Parent[];
  readonly stopped: AbortSignal;
  readonly draining: AbortSignal;
  extend(fraction?: number, text?: string): Promise<void>;
  resolve(result?: Result | null, create?: Iterable<NewTask>): Promise<TaskFields[]>;
  release(error: string, options?: { delay?: number; output?: string; giveUp?: boolean }): Promise<void>;
  handBack(delay?: number): Promise<void>;
  log(text: string): void;
}

/** Seconds after which another worker may try, or a function that returns them; null: never. */
export type Retry = number | ((attempts: number) => number) | null;

/** Handlers by action. Actions is an object type of data and result by action: { count: { data: string[]; result: number } }. */
export type Handlers<Actions> = {
  [A in keyof Actions]: Actions[A] extends { data: infer Data; result: infer Result }
    ? (task: Task<Data, Result>) => Result | Promise<Result>
    : (task: Task) => unknown;
};

export class Worker<Actions = Record<string, unknown>> {
  constructor(client: Client, handlers: Handlers<Actions>, options?: {
    concurrency?: number;
    name?: string;
    ttl?: number;
    drain?: number;
    log?: (text: string) => void;
    retry?: Map<new (...args: any[]) => unknown, Retry>;
  });
  run(): Promise<void>;
  stop(): void;
}

export class TestCoordinator {
  static start(program?: string): Promise<TestCoordinator>;
  readonly url: string;
  client(): Client;
  stop(): Promise<void>;
}
