import assert from "node:assert/strict";
import { test } from "node:test";
import { clock } from "./browser.js";
import { near } from "./data.js";
import { Meter } from "../page/meter.js";

test("nothing has arrived", () => {
  const m = new Meter();
  assert.equal(m.rate(), 0);
  assert.ok(Number.isNaN(m.age()));
});

test("ten a second, each 20 ms old", () => {
  const m = new Meter();
  for (let i = 0; i < 50; i++) {
    clock.advance(100);
    m.count(0.02);
  }
  near(m.rate(), 10);
  near(m.age(), 0.07); // from 20 to 120 ms
  clock.advance(100);
  near(m.rate(), 10); // one interval without an arrival is usual
});

test("the rate falls after the last arrival, and the age grows", () => {
  const m = new Meter();
  for (let i = 0; i < 30; i++) {
    clock.advance(100);
    m.count();
  }
  let rate = m.rate(), age = m.age();
  for (let i = 0; i < 5; i++) {
    clock.advance(500);
    assert.ok(m.rate() < rate, `${m.rate()} after ${rate}`);
    assert.ok(m.age() > age, `${m.age()} after ${age}`);
    [rate, age] = [m.rate(), m.age()];
  }
  assert.equal(rate, 0); // longer than the span
  near(age, 1.25);
});

test("weights", () => {
  const m = new Meter();
  for (let i = 0; i < 20; i++) {
    clock.advance(200);
    m.count(0, 1000);
  }
  near(m.rate(), 5000);
});
