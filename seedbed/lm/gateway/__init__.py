"""The ledger as an address: an endpoint on loopback that speaks the protocols of OpenAI and Anthropic. Through it the
calls of any program, in any language, are counted, capped, limited, reused and replayed like those of DSPy.

A client's request becomes a chat body (`protocols/`), the body an attempt of the runtime (`asking.py`), the recorded
answer a reply in the client's own protocol. The key that a client sends says for whom it calls (`grants.py`).
"""

from seedbed.lm.gateway.gateway import Gateway, gateway_of
from seedbed.lm.gateway.grants import Grant
from seedbed.lm.gateway.routes import Reply

__all__ = ["Gateway", "Grant", "Reply", "gateway_of"]
