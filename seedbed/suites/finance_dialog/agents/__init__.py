"""The agents: one reply skeleton for all of them; only what they recall differs."""
