/**
 * Exact private draws where the secret is. Angles are degrees, distances metres; epsilon is per metre, or per unit of a universe.
 * The promise of a draw: its probability differs between two locations d metres apart by a factor of at most
 * exp(epsilon * (d + step * sqrt 2)) (Bordenabe, Measuring Privacy with Distinguishability Metrics, 2014, chapter 5).
 * Arguments of a wrong type are a TypeError, and out of their range a RangeError or an Error, before anything is charged.
 */

/** An account that pays: a text, or a whole number, which means its digits. */
export type Account = string | number | bigint

export interface Location {
  lat: number
  lon: number
}

/** The price of a draw. */
export interface Price {
  /** 'm', 'm2' or the unit of a universe. */
  unit: string
  epsilon: number
  /** The same in whole numbers of 1e-12, in which budgets count. */
  quanta: bigint
}

/** Keeps the text of a budget; see memory, local and indexed. */
export interface Store {
  /**
   * Calls change with the stored text, or '' if there is none, and stores the text that it returns; if it throws, nothing is stored.
   * Resolves once the text is durable. No other update may come in between, of this or another process.
   */
  update(change: (text: string) => string): Promise<void>
}

/** A store in memory. It ends with the page. */
export function memory(): Store
/**
 * A store in localStorage, for one page at a time, which has it from its first update until it is left; in another page updates fail. A
 * crash of the browser may lose the charges of the last seconds.
 */
export function local(key?: string): Store
/** A store in IndexedDB, for pages and workers: one transaction of strict durability each time, under a Web Lock. */
export function indexed(name?: string): Store

export interface Balance {
  limit?: number
  /** Since the beginning. */
  spent: number
  /** In the current window. */
  remaining: number
  /** When the window reopens, in RFC 3339. */
  reopens?: string
}

/** The limits and charges of accounts. Without a limit every draw is refused. */
export interface Budget {
  /**
   * Sets a limit, for one account or '*', all that have none of their own. It reopens after a window of seconds, or never. A limit that
   * reopens is a policy and no theorem: losses add up across windows.
   */
  limit(account: Account, unit: string, epsilon: number, window?: number): Promise<void>
  balance(account: Account, unit: string): Promise<Balance>
}

/** Returns the budget in a store. It guards against mistakes: whoever controls the page controls it. */
export function budget(store: Store): Budget

/** A draw for which an account does not have enough left. Nothing was charged. */
export class RefusedError extends Error {
  account: string
  unit: string
  asked: number
  left: number
  short: number
  /** When the window reopens, in RFC 3339. */
  reopens?: string
}

export interface LocationMechanism {
  /** Charges the account, and draws once the charge is durable. */
  draw(budget: Budget, account: Account, lat: number, lon: number): Promise<Location>
  /** The radius in metres that holds a draw with probability p. */
  radius(p: number): number
  /** The probability that a draw is within so many metres: the inverse of radius. */
  confidence(metres: number): number
  /**
   * The radius around a draw that holds all within interest metres of the location with probability p: what to ask a location service for
   * (thesis, proposition 5.1). It does not depend on the draw, which would give the location away.
   */
  retrievalRadius(p: number, interest: number): number
  price(): Price
}

export interface ReadingMechanism {
  /** Charges the account, and draws once the charge is durable. Readings are moved into the universe. */
  draw(budget: Budget, account: Account, x: number): Promise<number>
  /** The radius that holds a draw with probability p, in the universe's unit. */
  radius(p: number): number
  price(): Price
}

/** The settings of trace_policy in SQL: epsilon, steps or alpha, manager, predictor, .. */
export type Policy = Record<string, number | string>

export interface Report {
  /** Whether it has noise, and is no prediction. */
  hard: boolean
  /** Whether a prediction was tested. */
  tested: boolean
  /** Epsilon of this step. */
  spent: number
}

/**
 * The predictive mechanism (Chatzikokolakis, Palamidessi, Stronati, A Predictive Differentially-Private Mechanism for Mobility Traces, 2014).
 * The run of a trace, which is public, is kept in the budget's store, under the account and a name.
 */
export interface LocationTrace {
  /** Takes a step at a time, a Date or milliseconds, later than that of the last one. */
  step(budget: Budget, account: Account, name: string, time: Date | number, lat: number, lon: number): Promise<Report & Location>
  /** The run so far, in base64, from which another store goes on. The bound is that of one run: do not go on from it twice. */
  state(budget: Budget, account: Account, name: string): Promise<string | undefined>
  /** The price of the whole trace. */
  price(): Price
}

export interface ReadingTrace {
  step(budget: Budget, account: Account, name: string, time: Date | number, x: number): Promise<Report & { x: number }>
  state(budget: Budget, account: Account, name: string): Promise<string | undefined>
  price(): Price
}

export interface Domain {
  /** The most by which distances are stretched; see geo_domain. */
  readonly kappa: number
  /** The domain in words. */
  readonly text: string
  /** The planar Laplace mechanism, at epsilon per metre. */
  laplace(epsilon: number): LocationMechanism
  /** Independent noise on both axes, at epsilon per metre: cheaper to analyse, wider than laplace. */
  laplaceL1(epsilon: number): LocationMechanism
  /** The planar discrete Gaussian mechanism, at rho per square metre. */
  gauss(rho: number): LocationMechanism
  /** Returns a function for the best guess of the true location of a draw of laplace, under a public prior. It costs nothing. */
  remap(prior: (Location & { weight: number })[]): (lat: number, lon: number, epsilon: number) => Location
  /** Estimates a trace from draws of laplace, for nothing. Times without a location are bridged. */
  smooth(points: { time: Date | number; lat?: number | null; lon?: number | null; epsilon: number }[]): (Location | null)[]
  /** Goes on from a state if the budget's store has no run of that name. */
  trace(mechanism: 'predictive' | 'independent', policy: Policy, state?: string): LocationTrace
}

export interface Universe {
  /** The universe in words. */
  readonly text: string
  /** The truncated geometric mechanism, at epsilon per unit. */
  value(epsilon: number): ReadingMechanism
  trace(mechanism: 'predictive' | 'independent', policy: Policy, state?: string): ReadingTrace
}

/** Declares a domain: a box in degrees, a lattice step in metres, and a region in WKT into which draws are moved; see geo_domain in SQL. */
export function domain(settings: {
  name: string; south: number; west: number; north: number; east: number; stepM: number; region?: string
}): Promise<Domain>

/** Declares a universe, the public range of a reading; see dx_universe in SQL. */
export function universe(settings: { name: string; lo: number; hi: number; step: number; unit: string }): Promise<Universe>
