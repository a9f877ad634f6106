"""Failures that no further call can mend: what to tell the user before everything stops."""

from __future__ import annotations

from seedbed.errors import ProviderError
from seedbed.storage.redact import redact
from seedbed.sweep.model_config import ModelConfig


def fatal_sentence(model: ModelConfig, error: ProviderError, *, answered: bool) -> str | None:
    """A sentence that says what to do, or None where going on makes sense. A model that has `answered` before is at
    the right address: what cannot be reached any more may come back."""
    said = redact(error.message).rstrip(".")
    if error.unsent and not answered:
        return f"{model.model}: {said}. {_start_or_correct(model)}"
    if error.status == 404:
        return f"{model.model}: {said}. Correct the model's name or the path of its api_base, and run again."
    if error.kind == "auth":
        if model.api_key_env:
            remedy = f"Put a valid key into the environment variable {model.api_key_env} and run again."
        elif model.api_base:
            remedy = "Name the variable that holds its key as `api_key_env` of the model and run again."
        else:
            remedy = "Export the provider's key (OPENAI_API_KEY, ...) or name its variable as `api_key_env`; run again."
        return f"{model.model} refused the key: {said}. {remedy}"
    if error.kind == "billing":
        return f"{model.model} wants payment: {said}. Top up the account or raise its limit and run again."
    return None


def _start_or_correct(model: ModelConfig) -> str:
    if model.serve is not None:
        return "Correct the command under `serve` of the model and run again."
    if model.local:
        return "Mend that and run again."
    if model.api_base is None:
        return "Check the network (a proxy? a firewall?) and run again."
    return "Start the server there, or correct the api_base of the model, and run again."


def advice(error: ProviderError) -> str:
    """The message of an error of a single sample, with what to do about it where that is known."""
    if error.kind == "context_length":
        return (
            f"{error.message.rstrip('.')}. The request is longer than the model takes: shorten the context (fewer "
            "passages, demos or turns), lower max_tokens, or choose a model with a longer window."
        )
    return error.message
