// @ts-check
// Follows searches that take a while: tells what they have found so far, until they are done.

import { attempt, button, element, notice } from "./dom.js";
import { follow } from "./follow.js";
import { ask, tell } from "./site.js";

/** @typedef {{job: string, version: number, state: string, done: number, of: number,
 *   error: string|null, result: any}} Job */

/** Call `tell` with a job after each change, until it has ended or nobody wants it any more.
 * @param {Job} job @param {(job: Job) => boolean|void} tell false: no longer
 * @returns {Promise<void>} */
function followJob(job, tell) {
  if (tell(job) === false || job.state !== "running") return Promise.resolve();
  return new Promise((resolve, reject) => {
    const end = follow(`job:${job.job}`, async () => {
      try {
        const now = await ask("/api/jobs", { job: job.job });
        if (tell(now) !== false && now.state === "running") return;
        resolve();
      } catch (error) {
        // A server that does not answer may be back soon.
        if (error instanceof TypeError) return;
        reject(error);
      }
      end();
    });
  });
}

/** Jobs of which the last one that was started counts. */
export class LastJob {
  constructor() {
    this.job = "";
    this.count = 0;
  }

  /** Start a job, and tell what it finds until it has ended or another one is started.
   * @param {() => Promise<Job>} start
   * @param {(job: Job) => boolean|void} draw false: no longer */
  async run(start, draw) {
    const number = ++this.count;
    await attempt(async () => {
      await this.stop();
      const job = await start();
      this.job = job.job;
      await followJob(job, (now) => {
        if (number !== this.count) return false;
        if (now.error) notice(now.error);
        return draw(now);
      });
    });
    if (number === this.count) this.job = "";
  }

  /** Stop the job that runs, if there is one. */
  async stop() {
    if (this.job) await tell("/api/jobs/stop", { job: this.job });
  }
}

/** A button that starts a job, and stops it while it runs. */
export class JobButton {
  /** @param {string} kind its id and classes @param {string} text @param {string} again its text once
   * the job has ended @param {() => Promise<Job>} start
   * @param {(result: any) => boolean|void} draw told what was found so far, or null; false: no longer */
  constructor(kind, text, again, start, draw) {
    this.again = again;
    this.start = start;
    this.draw = draw;
    this.started = false;
    this.last = new LastJob();
    this.button = button(kind, text, () => this.press());
    this.progress = /** @type {HTMLProgressElement} */ (
      element("progress", { hidden: true, max: 1, value: 0, "aria-label": "Progress" })
    );
  }

  async press() {
    if (this.started) {
      await attempt(() => this.last.stop());
      return;
    }
    this.started = true;
    this.button.textContent = "Stop";
    this.progress.hidden = false;
    await this.last.run(this.start, ({ done, of, result }) => {
      this.progress.value = of ? done / of : 0;
      return this.draw(result);
    });
    this.started = false;
    this.progress.hidden = true;
    this.button.textContent = this.again;
  }
}
